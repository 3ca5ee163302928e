/** A real nginx with the configuration of docs/proxy.md: only places are changed in it, never what it does. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { Certificate } from './certificate.ts';
import { REPOSITORY } from './processes.ts';

export const hasNginx = spawnSync('nginx', ['-v']).status === 0;

/** Nobody listens there now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export interface Nginx extends AsyncDisposable {
  /** Starts new workers; the old ones let go of their connections. Resolves when the old ones have ended. */
  reload(): Promise<void>;
}

interface NginxOptions {
  dir: string;
  port: number;
  upstream: string;
  certificate: Certificate;
}

/** @returns undefined when somebody else has taken the port meanwhile. */
export async function startNginx({ dir, port, upstream, certificate }: NginxOptions): Promise<Nginx | undefined> {
  const page = await readFile(join(REPOSITORY, 'docs', 'proxy.md'), 'utf8');
  const [, documented = ''] = page.match(/^```nginx\n(.*?)^```$/ms) ?? [];
  const places = [
    ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
    ['/etc/letsencrypt/live/example.org/fullchain.pem', certificate.certFile],
    ['/etc/letsencrypt/live/example.org/privkey.pem', certificate.keyFile],
    ['http://127.0.0.1:7494/;', `${upstream}/;`],
  ] as const;
  const server = places.reduce((text, [from, to]) => {
    if (text.split(from).length !== 2) throw new Error(`docs/proxy.md: "${from}" must be there once`);
    return text.replace(from, () => to);
  }, documented);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (what) => `  ${what}_temp_path ${dir}/${what};`,
  );
  const lines = [
    // Ignored unless root starts it; and then a worker has to get into the directory of the test.
    'user root root;',
    'worker_processes 1;',
    `pid ${dir}/nginx.pid;`,
    'worker_shutdown_timeout 100ms;',
    'events {}',
    'http {',
    '  access_log off;',
    ...temporary,
    server,
    '}',
  ];
  const file = join(dir, 'nginx.conf');
  await writeFile(file, lines.join('\n'));
  const child = spawn('nginx', ['-p', dir, '-c', file, '-e', 'stderr', '-g', 'daemon off; error_log stderr notice;']);
  const said = output(child);
  const [outcome] = await Promise.race([
    said(/start worker process \d+/),
    said(/Address already in use/),
    once(child, 'close').then(() => Promise.reject(new Error(`nginx: ${said.text()}`))),
  ]);
  if (!outcome.startsWith('start')) {
    child.kill('SIGKILL');
    return undefined;
  }
  return {
    async reload() {
      const ended = said(/worker process \d+ exited/);
      child.kill('SIGHUP');
      await ended;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await once(child, 'close');
    },
  };
}

/** Waits for what it says next on stderr. */
function output(child: ChildProcess) {
  let text = '';
  const waiting = new Set<() => void>();
  child.stderr?.setEncoding('utf8').on('data', (more: string) => {
    text += more;
    for (const look of waiting) look();
  });
  const said = (pattern: RegExp): Promise<RegExpMatchArray> => {
    const from = text.length;
    return new Promise((resolve) => {
      const look = () => {
        const match = text.slice(from).match(pattern);
        if (!match) return;
        waiting.delete(look);
        resolve(match);
      };
      waiting.add(look);
    });
  };
  return Object.assign(said, { text: () => text });
}
