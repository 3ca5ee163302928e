/** Every way to knock: Host × Origin × credential × form × path, over real sockets, against a table made by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exchange, startServer, statusOf, TOKEN } from '../server/support.ts';

/** A part of a request and whether it is as it should be. */
interface Part {
  name: string;
  good: boolean;
  lines: readonly string[];
}

const part = (name: string, good: boolean, ...lines: string[]): Part => ({ name, good, lines });

function partsAt(port: number) {
  const own = `http://localhost:${port}`;
  return {
    hosts: [
      part('own host', true, `Host: localhost:${port}`),
      part('foreign host', false, 'Host: evil.example'),
      part('rebound host', false, `Host: evil.example:${port}`),
      part('own name below a foreign one', false, `Host: localhost.evil.example:${port}`),
      part('host without its port', false, 'Host: localhost'),
      part('no host', false),
      part('two hosts', false, `Host: localhost:${port}`, 'Host: evil.example'),
    ],
    origins: [
      part('no origin', true),
      part('own origin', true, `Origin: ${own}`),
      part('foreign origin', false, 'Origin: https://evil.example'),
      part('opaque origin', false, 'Origin: null'),
      part('own origin as a prefix', false, `Origin: ${own}.evil.example`),
      part('two origins', false, `Origin: ${own}`, 'Origin: https://evil.example'),
    ],
    credentials: [
      part('token', true, `Authorization: Bearer ${TOKEN}`),
      part('nothing', false),
      part('wrong token', false, `Authorization: Bearer ${TOKEN}x`),
      part('token as a password', false, `Authorization: Basic ${Buffer.from(`:${TOKEN}`).toString('base64')}`),
      part('token in another header', false, `X-Authorization: Bearer ${TOKEN}`),
      part('token as a protocol', false, `Sec-WebSocket-Protocol: ${TOKEN}`),
    ],
  };
}

const FORMS = ['plain', 'upgrade', 'absolute upgrade'] as const;
const PATHS = ['/acp', '/metrics', '/healthz'] as const;

type Form = (typeof FORMS)[number];
type Path = (typeof PATHS)[number];

/** What has to come back. Written by hand from the rules, and asks nothing of the product. */
function expected(host: Part, origin: Part, credential: Part, form: Form, path: Path): number {
  if (!host.good || !origin.good || form === 'absolute upgrade') return 403;
  if (!credential.good && path !== '/healthz') return 401;
  if (form === 'plain') return path === '/acp' ? 426 : 200;
  return path === '/acp' ? 101 : 404;
}

function request(port: number, form: Form, path: Path, parts: readonly Part[]): string[] {
  const target = form === 'absolute upgrade' ? `http://localhost:${port}${path}` : path;
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  const ending = form === 'plain' ? ['Connection: close'] : [...upgrade, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
  return [`GET ${target} HTTP/1.1`, ...parts.flatMap(({ lines }) => lines), ...ending];
}

test('[ATK6] every combination of host, origin, credential, form and path is answered as the table says', async (t) => {
  const { port, peers } = await startServer(t);
  const { hosts, origins, credentials } = partsAt(port);
  const cells = hosts.flatMap((host) =>
    origins.flatMap((origin) =>
      credentials.flatMap((credential) =>
        FORMS.flatMap((form) => PATHS.map((path) => ({ host, origin, credential, form, path }))),
      ),
    ),
  );
  assert.ok(cells.length >= 300, `${cells.length} cells`);
  const admitted: string[] = [];
  const knock = async ({ host, origin, credential, form, path }: (typeof cells)[number]) => {
    const name = [form, path, host.name, origin.name, credential.name].join(', ');
    const status = statusOf(await exchange(port, request(port, form, path, [host, origin, credential])));
    assert.equal(status, expected(host, origin, credential, form, path), name);
    if (status === 101) admitted.push(name);
  };
  while (cells.length > 0) await Promise.all(cells.splice(0, 50).map(knock));
  assert.deepEqual(
    admitted.sort(),
    ['no origin', 'own origin'].map((o) => `upgrade, /acp, own host, ${o}, token`),
  );
  assert.equal(peers.length, admitted.length);
});
