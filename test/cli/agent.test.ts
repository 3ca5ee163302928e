import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { OpenPeer } from '../../src/acp/transport.ts';
import { createBridge } from '../../src/cli/bridge.ts';
import { serveStdio } from '../../src/cli/stdio.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { createApp } from '../../src/server/app.ts';
import { agentContract } from '../contracts/agent.ts';
import { APP_LIMITS } from '../support/app-limits.ts';
import { WireClient } from '../support/wire-client.ts';

const token = 'a-token-for-tests';
const logger = { debug() {}, info() {}, warn() {}, error() {} };
type Defer = (end: () => unknown) => void;

async function overStdio(openPeer: OpenPeer, defer: Defer): Promise<WireClient> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const done = serveStdio({ input, output, openPeer, principal: LOCAL });
  // An editor that goes away takes both ends of the pipe with it.
  const close = () => {
    output.destroy();
    input.destroy();
  };
  const client = new WireClient().open({ send: (text) => input.write(`${text}\n`), close });
  void done.then(client.ended);
  const lines = createInterface({ input: output });
  lines.on('line', client.receive);
  defer(async () => {
    close();
    await done;
    lines.close();
  });
  return client;
}

async function overBridge(openPeer: OpenPeer, defer: Defer): Promise<WireClient> {
  const authenticate = (candidate: string) => (candidate === token ? { principal: LOCAL } : undefined);
  const app = await createApp({
    limits: APP_LIMITS,
    openPeer,
    authenticate,
    readiness: () => true,
    logger,
    shutdownGraceMs: 0,
  });
  defer(() => app.close());
  const url = `${(await app.listen({ port: 0 })).replace('http', 'ws')}/acp`;
  const address = () => ({ url, protocols: ['acp.v1'], headers: { authorization: `Bearer ${token}` } });
  return overStdio(createBridge({ address, logger, onRefused() {} }), defer);
}

agentContract('stdio', overStdio);
agentContract('bridge', overBridge);
