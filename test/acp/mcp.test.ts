import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOCAL, type Principal } from '../../src/core/principal.ts';
import { call, finish, type ScriptStep } from '../../src/providers/script.ts';
import { serveStreamable } from '../support/mcp-http.ts';
import { RpcError } from '../support/wire-client.ts';
import { alive } from '../tools/mcp-support.ts';
import { done, echo, results, stage } from './mcp-support.ts';

test('[MCP1] a Session has the tools of the servers that its client lists, after those of the table', async () => {
  await using remote = await serveStreamable();
  await using s = await stage({ script: [echo('hello'), done] });
  const client = await s.w.client();
  const { sessionId, _meta } = await s.make(client, [
    { type: 'http', name: 'b', url: remote.url, headers: [] },
    s.server(),
  ]);
  assert.deepEqual(_meta, {
    pixir: {
      mcp: [
        { name: 'b', ok: true },
        { name: 'a', ok: true },
      ],
    },
  });
  assert.deepEqual(await client.prompt(sessionId, 'go'), { stopReason: 'end_turn' });
  const [first, second] = s.w.provider.requests;
  const names = first?.tools.map(({ name }) => name) ?? [];
  const own = names.filter((name) => name.startsWith('mcp__'));
  assert.deepEqual(names, [...names.slice(0, -own.length), ...own.toSorted()]);
  assert.ok(own.includes('mcp__a__echo') && own.includes('mcp__b__echo'));
  assert.deepEqual(second?.tools, first?.tools);
  assert.deepEqual(
    (await results(s.w, sessionId)).map(({ output }) => output),
    ['hello'],
  );
  const plain = await client.newSession(s.w.dir);
  assert.ok(plain !== sessionId);
});

test('[MCP1] the tools of a Turn are those of its beginning, also where its server changes them', async () => {
  const more: ScriptStep[] = [call('m', 'mcp__a__more', {}), finish()];
  const extra: ScriptStep[] = [call('x', 'mcp__a__extra', {}), finish()];
  await using s = await stage({ script: [more, extra, done, [call('y', 'mcp__a__extra', {}), finish()], done] });
  const client = await s.w.client();
  const { sessionId } = await s.make(client);
  await client.prompt(sessionId, 'one');
  await client.prompt(sessionId, 'two');
  assert.deepEqual(
    (await results(s.w, sessionId)).map(({ ok, error }) => [ok, error?.kind]),
    [
      [true, undefined],
      [false, 'unknown_tool'],
      [true, undefined],
    ],
  );
});

test('[MCP3] in plan mode no tool of a server runs; where permission is asked, each of its calls is', async () => {
  await using s = await stage({ script: [echo('1'), done, echo('2'), done], settings: { permissionCeiling: 'ask' } });
  const client = await s.w.client();
  const { sessionId } = await s.make(client);
  let asked = 0;
  client.onPermission = () => {
    asked++;
    return { outcome: { outcome: 'selected', optionId: 'allow' } };
  };
  await client.prompt(sessionId, 'go');
  await client.request('session/set_mode', { sessionId, modeId: 'plan' });
  await client.prompt(sessionId, 'go');
  assert.equal(asked, 1);
  assert.deepEqual(
    (await results(s.w, sessionId)).map(({ ok, error }) => [ok, error?.kind]),
    [
      [true, undefined],
      [false, 'permission_denied'],
    ],
  );
});

test('[MCP6] a broken server is told of, and the others work', async () => {
  await using s = await stage({ script: [echo('fine'), done] });
  const broken = { name: 'bro\nken', command: '/missing/canary', args: [], env: [{ name: 'KEY', value: 'canary' }] };
  const { client } = s.w.connect();
  await client.initialize({ session: { notices: {} } });
  const { sessionId, _meta } = await s.make(client, [broken, s.server()]);
  const message = 'the MCP server could not be started, or does not speak MCP';
  assert.deepEqual(_meta, {
    pixir: {
      mcp: [
        { name: 'bro\nken', ok: false, message },
        { name: 'a', ok: true },
      ],
    },
  });
  const { params } = await client.update(({ sessionUpdate }) => sessionUpdate === 'notice');
  const update = params?.update as Record<string, unknown>;
  assert.equal(update.title, 'The MCP server bro\\nken is not available');
  assert.equal(update.description, message);
  await client.prompt(sessionId, 'go');
  assert.deepEqual(
    (await results(s.w, sessionId)).map(({ output }) => output),
    ['fine'],
  );

  const plain = await s.w.client();
  await s.make(plain, [broken]);
  await plain.request('logout', {});
  assert.deepEqual(
    plain.updates().filter(({ sessionUpdate }) => sessionUpdate === 'notice'),
    [],
  );
  assert.ok(!JSON.stringify([...plain.frames, ...client.frames]).includes('canary'));
});

test('[MCP11] the settings of servers are nowhere but with them', async () => {
  await using s = await stage({ script: [echo('x'), done] });
  await using remote = await serveStreamable('canary');
  const client = await s.w.client();
  const headers = [{ name: 'authorization', value: 'Bearer canary' }];
  const { sessionId } = await s.make(client, [
    s.server('a', { API_KEY: 'canary' }),
    { type: 'http', name: 'h', url: `${remote.url}?key=canary`, headers },
  ]);
  await client.prompt(sessionId, 'go');
  assert.ok(!JSON.stringify(await s.w.events(sessionId)).includes('canary'));
  assert.ok(!JSON.stringify(client.frames).includes('canary'));
  assert.ok(!JSON.stringify(s.w.provider.requests).includes('canary'));
});

test('[MCP12] a malformed list is refused before anything happens, and not repeated', async () => {
  await using s = await stage();
  const client = await s.w.client();
  const good = s.server();
  const http = { type: 'http', name: 'canary', url: 'http://127.0.0.1:1/', headers: [] };
  const bad: unknown[] = [
    'canary',
    {},
    [null],
    ['canary'],
    [{ ...good, name: '' }],
    [{ ...good, name: 'n'.repeat(129) }],
    [{ ...good, command: 'canary' }],
    [{ ...good, command: './canary' }],
    [{ ...good, args: 'canary' }],
    [{ ...good, args: [1] }],
    [{ ...good, env: { canary: '1' } }],
    [{ ...good, env: [{ name: 'canary' }] }],
    [{ ...good, type: 'canary' }],
    [{ ...http, url: 'canary' }],
    [{ ...http, url: 'file:///canary' }],
    [{ ...http, headers: undefined }],
    [{ ...http, headers: [['canary', 'x']] }],
    Array.from({ length: 33 }, (_, n) => ({ ...good, name: `s${n}` })),
  ];
  const sessionId = await client.newSession(s.w.dir);
  for (const mcpServers of bad)
    for (const [method, params] of [
      ['session/new', {}],
      ['session/load', { sessionId }],
      ['session/resume', { sessionId }],
    ] as const)
      await assert.rejects(client.request(method, { cwd: s.w.dir, ...params, mcpServers }), (error) => {
        assert.ok(error instanceof RpcError && error.code === -32602, JSON.stringify(mcpServers));
        return true;
      });
  assert.ok(!JSON.stringify(client.frames).includes('canary'));
  assert.deepEqual(s.pids(), []);
  await s.make(client, [{ type: 'stdio', ...good }]);
  await s.make(client, null);
  assert.equal(s.pids().length, 1);
});

test('[MCP7] who cannot prompt starts no server and ends none', async () => {
  await using s = await stage();
  const owner = await s.w.client();
  const { sessionId } = await s.make(owner);
  const watcher: Principal = { ...LOCAL, name: 'watcher', scopes: ['observe'] };
  const client = await s.w.client(watcher);
  const mcpServers = [s.server('other')];
  const { _meta } = await client.request('session/load', { sessionId, cwd: s.w.dir, mcpServers });
  assert.deepEqual(_meta, {
    pixir: { mcp: [{ name: 'other', ok: false, message: 'the credential lacks the scope prompt' }] },
  });
  await client.request('session/resume', { sessionId, cwd: s.w.dir, mcpServers: [] });
  assert.equal(s.pids().length, 1);
  assert.ok(s.pids().every(alive));
});
