/** Streamable HTTP: who is answered what, and how connections begin and end. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { APP_LIMITS } from '../support/app-limits.ts';
import { as, type Headers, INITIALIZE, people, puppets, session, startStreamable } from './streamable-support.ts';

const LOGOUT = { jsonrpc: '2.0', id: 1, method: 'logout' };
const PROMPT = { jsonrpc: '2.0', id: 2, method: 'session/prompt', params: { sessionId: 's1', prompt: [] } };
const EVENTS = { accept: 'text/event-stream' };

test('[SHTTP1] every request is answered the status that the table says', async (t) => {
  const { openPeer, peers } = puppets();
  const limits = { ...APP_LIMITS, maxFrameBytes: 100_000 };
  const { ask, connect, listen } = await startStreamable(t, { openPeer, limits });
  const mine = await connect();
  const theirs = await connect(as('bob'));
  const open = await listen(mine);
  const unknown = { 'acp-connection-id': 'unknown' };
  const foreign = { 'acp-connection-id': theirs['acp-connection-id'] ?? '' };
  const rows: [number, string, Headers, unknown?][] = [
    [200, 'POST', {}, INITIALIZE],
    [202, 'POST', mine, LOGOUT],
    [202, 'POST', mine, INITIALIZE],
    [202, 'POST', mine, { jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 9 } }],
    [202, 'POST', { ...mine, ...session('s1') }, PROMPT],
    [202, 'POST', { ...mine, ...session('s1') }, LOGOUT],
    [
      202,
      'POST',
      { ...mine, 'content-type': 'application/json; charset=utf-8' },
      `{"x":"${'y'.repeat(70_000)}",${JSON.stringify(LOGOUT).slice(1)}`,
    ],
    [400, 'POST', {}, LOGOUT],
    [400, 'POST', {}, { ...INITIALIZE, id: undefined }],
    [400, 'POST', mine, ''],
    [400, 'POST', mine, '{broken'],
    [400, 'POST', mine, [LOGOUT]],
    [400, 'POST', mine, { ...LOGOUT, jsonrpc: '1.0' }],
    [400, 'POST', mine, PROMPT],
    [400, 'POST', { ...mine, ...session('s2') }, PROMPT],
    [400, 'POST', { ...mine, ...session('x'.repeat(257)) }, LOGOUT],
    [400, 'POST', { ...mine, ...session('') }, LOGOUT],
    [404, 'POST', unknown, LOGOUT],
    [404, 'POST', foreign, LOGOUT],
    [413, 'POST', mine, `"${'x'.repeat(100_000)}"`],
    [415, 'POST', { ...mine, 'content-type': 'text/plain' }, LOGOUT],
    [415, 'POST', { ...mine, 'content-type': 'application/jsonp' }, LOGOUT],
    [401, 'POST', { ...mine, authorization: 'Basic x' }, LOGOUT],
    [403, 'POST', { ...mine, origin: 'https://evil.example' }, LOGOUT],
    [426, 'GET', {}],
    [406, 'GET', mine],
    [406, 'GET', { ...mine, accept: 'application/json' }],
    [400, 'GET', EVENTS],
    [400, 'GET', { ...EVENTS, ...mine, ...session('x'.repeat(257)) }],
    [404, 'GET', { ...EVENTS, ...unknown }],
    [404, 'GET', { ...EVENTS, ...foreign }],
    [409, 'GET', { ...EVENTS, ...mine }],
    [426, 'HEAD', { ...EVENTS, ...mine }],
    [405, 'PUT', mine],
    [400, 'DELETE', {}],
    [404, 'DELETE', unknown],
    [404, 'DELETE', foreign],
    [202, 'DELETE', mine],
    [404, 'DELETE', mine],
    [404, 'POST', mine, LOGOUT],
    [404, 'GET', { ...EVENTS, ...mine }],
  ];
  for (const [index, [status, method, headers, body]] of rows.entries()) {
    const answer = await ask(method, headers, body);
    assert.equal(answer.status, status, `row ${index}: ${method} ${JSON.stringify(body)}`);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const said = await answer.text();
    if (status === 202 || method === 'HEAD') assert.equal(said, '');
    else assert.doesNotThrow(() => JSON.parse(said), said);
  }
  await open.ended;
  assert.deepEqual(
    peers.map(({ closed }) => closed),
    [1, 0, 0],
  );
});

test('[SHTTP1] what is no message is told inline why, and bad UTF-8 is none', async (t) => {
  const { ask, connect, port } = await startStreamable(t, { openPeer: puppets().openPeer });
  const mine = await connect();
  for (const [body, code] of [
    ['{broken', -32700],
    ['[]', -32600],
    ['{}', -32600],
  ] as const) {
    const { id, error } = (await (await ask('POST', mine, body)).json()) as { id: unknown; error: { code: number } };
    assert.deepEqual([id, error.code], [null, code]);
  }
  const socket = connectSocket(port, '127.0.0.1');
  const head = Object.entries({ ...as('ada'), ...mine, host: `127.0.0.1:${port}`, 'content-length': '4' });
  const lines = [
    'POST /acp HTTP/1.1',
    'content-type: application/json',
    ...head.map(([name, value]) => `${name}: ${value}`),
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  socket.write(Buffer.from([0x22, 0xc3, 0x28, 0x22]));
  const [answer] = await once(socket, 'data');
  socket.destroy();
  assert.match(String(answer), /^HTTP\/1\.1 400 /);
});

test('[SHTTP1] an event stream says what it is, is not collected on the way, and shows signs of life', async (t) => {
  const { clock, connect, listen } = await startStreamable(t, { openPeer: puppets().openPeer });
  const stream = await listen(await connect());
  assert.equal(stream.status, 200);
  const { 'content-type': type, 'x-accel-buffering': buffering, 'cache-control': cache } = stream.headers;
  assert.deepEqual([type, buffering, cache], ['text/event-stream', 'no', 'no-store']);
  assert.equal(stream.headers['x-content-type-options'], 'nosniff');
  for (const count of [1, 2]) {
    clock.advance(16_500);
    while (stream.comments() < count) await new Promise(setImmediate);
  }
  assert.deepEqual([stream.comments(), stream.events], [2, []]);
});

test('[SHTTP3] the connection ids are long and random, and good for nobody but who opened it', async (t) => {
  const { openPeer, peers } = puppets();
  const grants = new Map(['ada', 'adb'].map((token) => [token, { ...people('ada').principal }]));
  grants.set('adb', { ...people('ada').principal, scopes: ['observe'] });
  const authenticate = (token: string) => ({ principal: grants.get(token) ?? people(token).principal });
  const { ask, connect, listen } = await startStreamable(t, { openPeer, authenticate });
  const ids = new Set((await Promise.all([connect(), connect(), connect()])).map((each) => each['acp-connection-id']));
  assert.equal(ids.size, 3);
  for (const id of ids) assert.match(String(id), /^[\w-]{24}$/);
  const mine = await connect();
  for (const other of ['bob', 'adb']) {
    for (const method of ['POST', 'DELETE']) {
      const unknown = await ask(
        method,
        { ...as(other), 'acp-connection-id': 'x' },
        method === 'POST' ? LOGOUT : undefined,
      );
      const foreign = await ask(method, { ...mine, ...as(other) }, method === 'POST' ? LOGOUT : undefined);
      assert.deepEqual([foreign.status, await foreign.text()], [unknown.status, await unknown.text()]);
      assert.equal(foreign.status, 404);
    }
    assert.equal((await listen({ ...mine, ...as(other) })).status, 404);
  }
  assert.deepEqual(
    peers.map(({ received, closed }) => [received.length, closed]),
    [
      [1, 0],
      [1, 0],
      [1, 0],
      [1, 0],
    ],
  );
});

test('[SHTTP7] a connection that nobody listens to for 60 s ends, once; while somebody listens it does not', async (t) => {
  const { openPeer, peers } = puppets();
  const { clock, ask, connect, listen } = await startStreamable(t, { openPeer });
  const [idle, used] = [await connect(), await connect()];
  const stream = await listen({ ...used, ...session('s1') });
  clock.advance(59_999);
  assert.equal((await ask('POST', idle, LOGOUT)).status, 202);
  clock.advance(1);
  await peers[0]?.ended;
  assert.equal((await ask('POST', idle, LOGOUT)).status, 404);
  clock.advance(600_000);
  assert.equal((await ask('POST', used, LOGOUT)).status, 202);
  stream.cut();
  // The server hears of a cut some time later.
  let again = await listen({ ...used, ...session('s1') });
  while (again.status !== 200) again = await listen({ ...used, ...session('s1') });
  clock.advance(60_000);
  again.cut();
  while (peers[1]?.closed === 0) {
    clock.advance(60_000);
    await new Promise(setImmediate);
  }
  assert.deepEqual(
    peers.map(({ closed }) => closed),
    [1, 1],
  );
});

test('[SHTTP7] DELETE ends every stream after what waits, and the Peer says nothing any more', async (t) => {
  const { openPeer, peers } = puppets();
  const { ask, connect, listen } = await startStreamable(t, { openPeer });
  const mine = await connect();
  const streams = [await listen(mine), await listen({ ...mine, ...session('s1') })];
  peers[0]?.transport.send('{"jsonrpc":"2.0","method":"_test/last"}');
  assert.equal((await ask('DELETE', mine)).status, 202);
  peers[0]?.transport.send('{"jsonrpc":"2.0","method":"_test/late"}');
  for (const stream of streams) await stream.ended;
  assert.deepEqual(
    streams.map(({ events }) => events.map(({ frame }) => frame.method)),
    [['_test/last'], []],
  );
  assert.equal(peers[0]?.closed, 1);
});

test('[SHTTP7] a revoked credential ends its connections within 5 s; the next POST is 401', async (t) => {
  const { openPeer, peers } = puppets();
  const revoked = new Set<string>();
  const holds = (token: string) => !revoked.has(token);
  const authenticate = (token: string) => (holds(token) ? { ...people(token), holds: () => holds(token) } : undefined);
  const { clock, ask, connect, listen } = await startStreamable(t, { openPeer, authenticate });
  const [lost, kept] = [await connect(), await connect(as('bob'))];
  const [ending, staying] = [await listen(lost), await listen(kept)];
  revoked.add('ada');
  for (let second = 0; second < 5; second++) clock.advance(1_000);
  await ending.ended;
  assert.equal((await ask('POST', lost, LOGOUT)).status, 401);
  assert.equal((await ask('POST', kept, LOGOUT)).status, 202);
  await staying.event(0);
  assert.deepEqual(
    peers.map(({ closed }) => closed),
    [1, 0],
  );
});

test('[SHTTP7] at shutdown clients are told, streams end after that, and who does not read is cut', async (t) => {
  const { openPeer, peers } = puppets();
  const { clock, ask, connect, listen, close } = await startStreamable(t, { openPeer, shutdownGraceMs: 1_000 });
  const [mine, deaf] = [await connect(), await connect(as('bob'))];
  const stream = await listen(mine);
  const silent = await listen(deaf);
  silent.pause();
  while ((peers[1]?.transport.bufferedAmount ?? 0) < 1_000_000)
    peers[1]?.transport.send(JSON.stringify({ jsonrpc: '2.0', method: '_test/x', params: 'x'.repeat(100_000) }));
  const closed = close();
  await stream.ended;
  assert.deepEqual(
    stream.events.map(({ frame }) => frame.method),
    ['_test/draining'],
  );
  clock.advance(1_000);
  await closed;
  assert.deepEqual(
    peers.map((peer) => peer.closed),
    [1, 1],
  );
  await assert.rejects(ask('POST', mine, LOGOUT));
});

test('[SHTTP8] they count with the WebSockets, and what is one too many is told the limit', async (t) => {
  const { openPeer } = puppets();
  const limits = { ...APP_LIMITS, maxConnections: 3, maxConnectionsPerOwner: 2 };
  const server = await startStreamable(t, { openPeer, limits });
  const { ask, connect } = server;
  await server.connect(as('bob')).catch(() => undefined);
  const socket = new WebSocket(server.url, { headers: as('ada') });
  t.after(() => socket.terminate());
  await once(socket, 'open');
  const mine = await connect();
  const refused = await ask('POST', {}, INITIALIZE);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '5']);
  assert.deepEqual(await refused.json(), { error: 'too many requests', limit: 'connections_per_owner' });
  const another = new WebSocket(server.url, { headers: as('ada') });
  const [error] = await once(another, 'error');
  assert.match(String(error), /429/);
  const metrics = await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers: as('ada') });
  assert.match(await metrics.text(), /^pixir_connections 3$/m);
  assert.equal((await ask('DELETE', mine)).status, 202);
  assert.equal((await ask('POST', {}, INITIALIZE)).status, 200);
});
