/** Every route × method × credential × form, against a table made by hand; and the table of the source against Fastify. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/core/clock.ts';
import { createApp } from '../../src/server/app.ts';
import { createOneTime } from '../../src/server/one-time.ts';
import { methodsAt, ROUTES } from '../../src/server/routes.ts';
import { APP_LIMITS } from '../support/app-limits.ts';
import { HASHED } from '../support/ui-fixture.ts';
import { APP, OWN, stage } from './sign-in-support.ts';
import { exchange, statusOf } from './support.ts';

const SCOPES = ['observe', 'prompt', 'approve', 'admin'] as const;
const CREDENTIALS = ['none', 'wrong', ...SCOPES] as const;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'] as const;

type Statuses = Record<(typeof CREDENTIALS)[number], number>;

const always = (status: number): Statuses => forCredentials(status, status, status, status);
const forCredentials = (none: number, wrong: number, scoped: number, admin: number): Statuses => ({
  none,
  wrong,
  observe: scoped,
  prompt: scoped,
  approve: scoped,
  admin,
});
const known = (status: number) => forCredentials(401, 401, status, status);

/** What a request without a body is answered, plain and as an upgrade. By hand: it asks nothing of the product. */
const TABLE: Record<string, Record<string, [plain: Statuses, upgrade: Statuses]>> = {
  ...Object.fromEntries(
    ['/', '/sw.js', '/assets/:file', '/healthz', '/readyz'].map((path) => [
      path,
      { GET: [always(200), always(404)], HEAD: [always(200), always(404)] },
    ]),
  ),
  '/metrics': {
    GET: [forCredentials(401, 401, 403, 200), forCredentials(401, 401, 403, 404)],
    HEAD: [forCredentials(401, 401, 403, 200), forCredentials(401, 401, 403, 404)],
  },
  // A handshake is a GET.
  '/acp': {
    GET: [known(426), known(101)],
    HEAD: [known(426), known(405)],
    POST: [known(400), known(405)],
    DELETE: [known(400), known(405)],
  },
  '/api/login': { POST: [always(400), always(404)] },
  '/api/logout': { POST: [known(204), known(404)] },
  '/api/tickets': { POST: [known(200), known(404)] },
  '/nowhere': {},
};

const ENDINGS = {
  plain: ['Connection: close'],
  upgrade: [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ],
};

/** What is asked for where the table has a name in place of one. */
const asked = (path: string) => path.replace(':file', HASHED);

const sorted = (methods: readonly string[]) => [...methods].sort().join(', ');

test('[ADM8] every route of Fastify is in the table of src/server/routes.ts, and the other way round', async () => {
  const nothing = () => {};
  const app = await createApp({
    openPeer: () => assert.fail('nobody connects'),
    authenticate: () => undefined,
    signIn: {
      browsers: { signIn: () => undefined, launch: () => assert.fail('nobody signs in'), signOut: nothing },
      launchCodes: createOneTime(systemClock, 1),
    },
    readiness: () => true,
    logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    limits: APP_LIMITS,
  });
  const lines = app.printRoutes({ commonPrefix: false }).trimEnd().split('\n');
  await app.close();
  // `└── / (GET, HEAD)`, and indented below it `├── api/login (POST)`.
  const found = lines.map((line) => line.match(/^[\s│├└─]*(\S+) \((.+)\)$/) ?? assert.fail(line));
  const routes = found.map(([, path = '', methods = '']) => [
    `/${path.replace(/^\//, '')}`,
    sorted(methods.split(', ')),
  ]);
  const paths = [...new Set(ROUTES.map(({ path }) => path))];
  assert.deepEqual(routes.sort(), paths.map((path) => [path, sorted(methodsAt(path))]).sort());
  assert.deepEqual(
    paths.sort(),
    Object.keys(TABLE)
      .filter((path) => path !== '/nowhere')
      .sort(),
  );
});

test('[ADM8] every route answers every method to every credential as the table says, and nothing else is done', async (t) => {
  const { server, named, dataDir } = await stage(t);
  const tokens = Object.fromEntries(SCOPES.map((scope) => [scope, named(scope, { scopes: [scope] })]));
  const files = () => readdirSync(join(dataDir, 'tokens')).sort();
  const before = files();
  const cells = Object.keys(TABLE).flatMap((path) =>
    METHODS.flatMap((method) =>
      CREDENTIALS.flatMap((credential) =>
        (['plain', 'upgrade'] as const).map((form) => ({ path, method, credential, form })),
      ),
    ),
  );
  let connections = 0;
  const knock = async ({ path, method, credential, form }: (typeof cells)[number]) => {
    const token = credential === 'wrong' ? 'wrong' : tokens[credential];
    const answer = await exchange(server.port, [
      `${method} ${asked(path)} HTTP/1.1`,
      `Host: 127.0.0.1:${server.port}`,
      ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
      ...ENDINGS[form],
    ]);
    // Another method, or no such path: told only to those who may know.
    const other = known(path === '/nowhere' ? 404 : 405);
    const [plain, upgraded] = TABLE[path]?.[method] ?? [other, other];
    const expected = (form === 'plain' ? plain : upgraded)[credential];
    assert.equal(statusOf(answer), expected, `${method} ${path}, ${credential}, ${form}`);
    if (expected === 101) connections += 1;
  };
  while (cells.length > 0) await Promise.all(cells.splice(0, 50).map(knock));
  assert.deepEqual([server.peers.length, connections], [SCOPES.length, SCOPES.length]);
  assert.deepEqual(files(), before);
});

test('[ADM8] a page of a listed origin gets a WebSocket and tickets, and with a credential too nothing else', async (t) => {
  const { server } = await stage(t);
  const served: string[] = [];
  for (const path of Object.keys(TABLE))
    for (const method of METHODS)
      for (const form of ['plain', 'upgrade'] as const) {
        const head = [`${method} ${asked(path)} HTTP/1.1`, `Host: 127.0.0.1:${server.port}`];
        const page = [`Origin: ${APP}`, `Authorization: Bearer ${OWN}`];
        const answer = await exchange(server.port, [...head, ...page, ...ENDINGS[form]]);
        if (statusOf(answer) !== 403) served.push(`${method} ${path} ${form} ${statusOf(answer)}`);
      }
  // A handshake is a GET; and a WebSocket is not where the tickets are.
  const expected = ['GET /acp upgrade 101', 'HEAD /acp upgrade 405', 'POST /api/tickets plain 200'];
  assert.deepEqual(served, [...expected, 'POST /api/tickets upgrade 404']);
});
