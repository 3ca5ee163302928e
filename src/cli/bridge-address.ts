/**
 * Where a bridge finds its server, and with what it comes in. Both are looked up for every attempt: a server that
 * restarts may listen elsewhere and know another token. The token must go nowhere but to the server.
 */
import { readHolder } from '../store/data-dir.ts';
import type { NodeAddress } from './bridge-wire.ts';
import { UsageError } from './command.ts';
import type { Config } from './config.ts';
import { loadToken } from './token.ts';

/**
 * The server that holds the data directory, as soon as it listens.
 *
 * @throws CoreError `config_invalid` when the token cannot be used.
 */
export function localServer(config: Pick<Config, 'dataDir' | 'token' | 'tokenFile'>): () => NodeAddress {
  // Now, while somebody hears of what is wrong with it.
  loadToken(config);
  return () => {
    const holder = readHolder(config.dataDir);
    // A server that was killed leaves its address behind, and anybody may listen there now.
    if (holder?.url === undefined || !isAlive(holder.pid)) throw new Error('no server listens');
    const { certificate } = holder;
    return { ...addressOf(new URL(holder.url), config), ...(certificate && { certificate }) };
  };
}

/** A server anywhere. @throws UsageError; CoreError `config_invalid` when the token file cannot be used. */
export function remoteServer(connect: string, tokenFile: string): () => NodeAddress {
  const url = URL.parse(connect);
  if (!url || !/^(https?|wss?):$/.test(url.protocol)) throw new UsageError('--connect needs an http(s) or ws(s) URL');
  const address = () => addressOf(url, { dataDir: '', tokenFile });
  // Once now, as above.
  address();
  return address;
}

function addressOf(url: URL, token: Parameters<typeof loadToken>[0]): NodeAddress {
  const at = new URL(url);
  at.protocol = at.protocol.replace('http', 'ws');
  if (at.pathname === '/') at.pathname = '/acp';
  return { url: at.href, protocols: ['acp.v1'], headers: { authorization: `Bearer ${loadToken(token).reveal()}` } };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, and somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
