/**
 * Looks at a server from outside, as somebody would who has found it, and at what its process leaves on the machine. It
 * knows the product only by what it is told in `Target`, and must never use a credential but where it says so.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { METHODS } from 'node:http';
import { join } from 'node:path';
import { type Answer, answersIn, exchangeBytes } from './scanner-wire.ts';

export interface Finding {
  what: string;
  evidence: string;
}

export interface Target {
  port: number;
  pid: number;
  dataDir: string;
  /** A directory in it whose content is the work of tools, as private as they make it; what is around it is the server's. */
  workspace: string;
  /** Every path there is, and `METHOD /path` of those that anybody may ask for. */
  paths: readonly string[];
  open: readonly string[];
  /** Opens everything; used only together with a foreign origin, where it must not help. */
  token: string;
  /** A body for `POST /api/login` that signs a browser in. */
  signIn: object;
  /** Everything that the process has printed. */
  output(): string;
}

const EVIL = 'https://evil.example';
const DEMANDED: Record<string, RegExp> = {
  'content-security-policy': /default-src 'none'.*frame-ancestors 'none'/,
  'x-content-type-options': /^nosniff$/,
  'cache-control': /^no-store$/,
  'x-frame-options': /^DENY$/,
  'referrer-policy': /^no-referrer$/,
  'cross-origin-opener-policy': /^same-origin$/,
  'cross-origin-resource-policy': /^same-origin$/,
};
const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

/** One finding of each kind, with the first evidence. */
export async function scan(target: Target): Promise<Finding[]> {
  const found = new Map<string, string>();
  const report = (what: string, evidence: string) => {
    if (!found.has(what)) found.set(what, evidence.slice(0, 300));
  };
  const { port } = target;
  const host = `Host: 127.0.0.1:${port}\r\n`;
  const ask = async (request: string, name = request.split('\r\n', 1)[0] ?? ''): Promise<Answer[]> => {
    const answers = answersIn(await exchangeBytes(port, request));
    for (const answer of answers) inspect(answer, name, report);
    return answers;
  };
  const probe: Probe = { target, host, ask, report };
  await scanRoutes(probe);
  await scanForms(probe);
  await scanSmuggling(probe);
  await scanBrowsers(probe);
  scanSockets(target, report);
  scanFiles(target, report);
  scanSecrets(target, report);
  return [...found].map(([what, evidence]) => ({ what, evidence }));
}

type Report = (what: string, evidence: string) => void;

interface Probe {
  target: Target;
  host: string;
  ask(request: string, name?: string): Promise<Answer[]>;
  report: Report;
}

const isGood = ({ status }: Answer) => status < 400;
const told = (name: string, { status, body }: Answer) => `${name}: ${status} ${body}`;

/** What must hold of every answer, whatever it answers. */
function inspect(answer: Answer, name: string, report: Report): void {
  const { headers, body, status } = answer;
  if (status !== 101)
    for (const [header, wanted] of Object.entries(DEMANDED))
      if (!wanted.test(headers.get(header)?.join() ?? ''))
        report('security header missing', `${name}: ${status}, ${header}`);
  for (const banner of ['server', 'x-powered-by', 'via'])
    if (headers.has(banner)) report('banner', `${name}: ${banner}: ${headers.get(banner)}`);
  for (const header of headers.keys())
    if (header.startsWith('access-control-')) report('CORS for a foreign origin', `${name}: ${header}`);
  if (/\n\s+at |node_modules|node:internal|\/home\/|\/root\/|\/tmp\/|\bv?\d+\.\d+\.\d+\b|Error:/.test(body))
    report('insides in an answer', told(name, answer));
  for (const cookie of headers.get('set-cookie') ?? [])
    if (!/; HttpOnly/i.test(cookie) || !/; SameSite=Strict/i.test(cookie)) report('cookie without its flags', cookie);
}

async function inBatches<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  while (items.length > 0) await Promise.all(items.splice(0, 50).map(work));
}

/** Every path × method without a credential and with a wrong one; and paths that try to get at files. */
async function scanRoutes({ target, host, ask, report }: Probe): Promise<void> {
  const methods = METHODS.filter((method) => method !== 'CONNECT');
  const requests = [...target.paths, '/nowhere'].flatMap((path) =>
    methods.flatMap((method) =>
      ['', 'Authorization: Bearer wrong\r\n'].map((credential) => ({ method, path, credential })),
    ),
  );
  await inBatches(requests, async ({ method, path, credential }) => {
    const [answer] = await ask(`${method} ${path} HTTP/1.1\r\n${host}${credential}Connection: close\r\n\r\n`);
    if (!answer) report('the scanner was not answered', `${method} ${path}`);
    if (answer && isGood(answer) && !target.open.includes(`${method} ${path}`))
      report('answered without a credential', told(`${method} ${path}`, answer));
  });
  const ways = [
    '../',
    '..%2f',
    '%2e%2e/',
    '%2e%2e%2f',
    '..\\',
    '..%5c',
    '....//',
    '..;/',
    '%c0%ae%c0%ae/',
    '%252e%252e/',
  ];
  const starts = ['/', '//', ...target.open.map((route) => `${route.split(' ')[1]}/`)];
  const files = ['etc/passwd', 'package.json', 'token', '.git/config', 'proc/self/environ'];
  await inBatches(
    starts.flatMap((start) => ways.flatMap((way) => files.map((file) => start + way.repeat(6) + file))),
    async (path) => {
      const [answer] = await ask(`GET ${path} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
      if (answer && isGood(answer)) report('a way to files', told(path, answer));
    },
  );
}

/** Requests in forms that nobody needs. */
async function scanForms({ target: { port }, host, ask, report }: Probe): Promise<void> {
  const end = 'Connection: close\r\n\r\n';
  const odd = [
    `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n${host}${end}`,
    `TRACE / HTTP/1.1\r\n${host}${end}`,
    `OPTIONS * HTTP/1.1\r\n${host}${end}`,
    `GET http://127.0.0.1:${port}/ HTTP/1.1\r\n${host}${end}`,
    `GET http://evil.example/ HTTP/1.1\r\n${host}${end}`,
    `GET / HTTP/1.1\r\n${end}`,
    `GET / HTTP/1.0\r\n\r\n`,
    ...[
      'evil.example',
      `evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `127.0.0.1:${port}@evil.example`,
      '',
      '127.0.0.1',
    ].map((name) => `GET / HTTP/1.1\r\nHost: ${name}\r\n${end}`),
    `GET / HTTP/1.1\r\n${host}Host: evil.example\r\n${end}`,
    `GET / HTTP/1.1\r\n${host}X-Long: ${'x'.repeat(20_000)}\r\n${end}`,
    `GET /?${'x'.repeat(20_000)} HTTP/1.1\r\n${host}${end}`,
    `GET / HTTP/9.9\r\n${host}${end}`,
    `NONSENSE / HTTP/1.1\r\n${host}${end}`,
    `GET /%zz HTTP/1.1\r\n${host}${end}`,
    `GET /\x00 HTTP/1.1\r\n${host}${end}`,
  ];
  await inBatches(odd, async (request) => {
    const [answer] = await ask(request);
    if (answer && isGood(answer)) report('an odd request is served', told(request.slice(0, 80), answer));
  });
  const preface = await exchangeBytes(port, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0');
  if (preface !== '' && !preface.startsWith('HTTP/1.1 4'))
    report('HTTP/2 without TLS', JSON.stringify(preface.slice(0, 40)));
}

/** One request that two readers would read differently, and a plain one behind it. */
async function scanSmuggling({ host, ask, report }: Probe): Promise<void> {
  const json = 'Content-Type: application/json\r\n';
  const next = `GET /healthz HTTP/1.1\r\n${host}Connection: close\r\n\r\n`;
  const bodies = [
    `${json}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${json}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
    `${json}Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello`,
    `${json}Content-Length: 5, 5\r\n\r\nhello`,
    `${json}Content-Length: +5\r\n\r\nhello`,
    `${json}Content-Length: 0x5\r\n\r\nhello`,
    `${json}Content-Length: -1\r\n\r\n`,
    `${json}Content-Length : 5\r\n\r\nhello`,
    `${json}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    `${json}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    `${json}Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n`,
    `${json}X: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${json}Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n`,
    `${json}Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n`,
    `${json}Transfer-Encoding: chunked\r\n\r\n-1\r\nhello\r\n0\r\n\r\n`,
    `${json}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n`,
    `${json}Transfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n`,
  ].map((rest) => `POST /api/login HTTP/1.1\r\n${host}${rest}`);
  const heads = [
    `GET /healthz HTTP/1.1\n${host.trim()}\n\n`,
    `GET /healthz HTTP/1.1\r\n${host}X: y\nZ: w\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\n${host}X: y\rZ: w\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\n folded\r\n${host}\r\n`,
    `GET /healthz HTTP/1.1\r\n${host}X Y: z\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\n${host}: z\r\n\r\n`,
  ];
  await inBatches([...bodies, ...heads], async (request) => {
    const answers = await ask(request + next, JSON.stringify(request));
    if (answers.length > 1 || answers.some(isGood))
      report(
        'a request that can be read in two ways',
        `${JSON.stringify(request)}: ${answers.map(({ status }) => status)}`,
      );
  });
}

/** What pages of other origins get, and what a browser is given at sign-in. */
async function scanBrowsers({ target, host, ask, report }: Probe): Promise<void> {
  const credentials = ['', `Authorization: Bearer ${target.token}\r\n`];
  const origins = [EVIL, 'null', `http://127.0.0.1:${target.port}.evil.example`, `http://localhost:${target.port + 1}`];
  const requests = target.paths.flatMap((path) =>
    origins.flatMap((origin) => credentials.map((credential) => ({ path, origin, credential }))),
  );
  await inBatches(requests, async ({ path, origin, credential }) => {
    const head = `${path} HTTP/1.1\r\n${host}Origin: ${origin}\r\n`;
    const name = `${path} from ${origin}`;
    const [upgraded] = await ask(`GET ${head}${credential}${UPGRADE}\r\n`, name);
    if (upgraded?.status === 101) report('a foreign page gets a WebSocket', name);
    const asking = 'Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\n';
    for (const request of [`GET ${head}${credential}`, `POST ${head}${credential}`, `OPTIONS ${head}${asking}`]) {
      const [answer] = await ask(`${request}Connection: close\r\n\r\n`, name);
      if (answer && isGood(answer)) report('a foreign page is served', told(name, answer));
    }
  });
  const body = JSON.stringify(target.signIn);
  const headers = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n`;
  const [signedIn] = await ask(`POST /api/login HTTP/1.1\r\n${host}${headers}\r\n${body}`);
  if (!signedIn?.headers.has('set-cookie')) report('the scanner could not sign in', `${signedIn?.status}`);
}

/** The sockets of the process that listen, as the kernel has them. */
function scanSockets({ pid, port }: Target, report: Report): void {
  const own = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap(
      (fd) => linkOf(`/proc/${pid}/fd/${fd}`).match(/^socket:\[(\d+)\]$/)?.[1] ?? [],
    ),
  );
  const rows = ['tcp', 'tcp6'].flatMap((file) => readFileSync(`/proc/net/${file}`, 'utf8').trim().split('\n').slice(1));
  const listening = rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode = '']) => state === '0A' && own.has(inode));
  const LOOPBACK = /^(0100007F|0{24}01000000):/;
  const places = listening.map(([, local = '']) => local);
  for (const place of places) if (!LOOPBACK.test(place)) report('listens beyond loopback', place);
  if (places.length !== 1) report('listens on more than one socket', `${places.length}: ${places}`);
  if (!places.some((place) => place.endsWith(`:${port.toString(16).toUpperCase().padStart(4, '0')}`)))
    report('the scanner did not find the socket', `${places}`);
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // Closed meanwhile.
    return '';
  }
}

/** Everything in the data directory is its owner's and nobody else's. */
function scanFiles({ dataDir, workspace }: Target, report: Report): void {
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  if (mode(dataDir) !== '700') report('the data directory is open to others', mode(dataDir));
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !path.startsWith(`${workspace}/`) && mode(path) !== '600')
      report('a file is open to others', `${entry.name} ${mode(path)}`);
  }
}

/** What others on the machine can read of a process must hold no credential, nor what it prints. */
function scanSecrets({ pid, token, output }: Target, report: Report): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  const files = [
    `/proc/${pid}/cmdline`,
    `/proc/${pid}/environ`,
    ...children.flatMap((child) => [`/proc/${child}/cmdline`, `/proc/${child}/environ`]),
  ];
  for (const file of files)
    if (readFileSync(file, 'utf8').includes(token)) report('a credential where others see it', file);
  if (output().includes(token)) report('a credential is printed', output());
}
