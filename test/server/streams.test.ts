/** Streamable HTTP: what comes on which stream, and in which order, also when streams are cut. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { call, finish, say } from '../../src/providers/script.ts';
import {
  after,
  type EventStream,
  type Headers,
  namesOf,
  note,
  people,
  puppets,
  request,
  session,
  stage,
  startStreamable,
  type Update,
  until,
} from './streamable-support.ts';

const about = (sessionId: string, n: number) => note('_test/n', { sessionId, n });
const kindsOf = ({ events }: EventStream) =>
  events.flatMap(({ frame: { params } }) => (params?.update as Update | undefined)?.sessionUpdate ?? []);
const numbersOf = ({ events }: EventStream) => events.map(({ frame }) => frame.params?.n);

const poking = [
  [call('c1', 'poke', { text: 'x' }), finish()],
  [...say('Done.'), finish()],
];

test('[SHTTP2] answers come where their Session is read, behind its updates; what is of no Session on the connection', async (t) => {
  const { w, server, mine, stream, post, sessionId, here, prompt } = await stage(t, {
    script: [[...say('Hi.'), finish()]],
  });
  const load = { sessionId, cwd: w.dir, mcpServers: [] };
  // Before anybody listens to the Session its updates wait, and only the answer to a load goes elsewhere.
  assert.equal((await prompt('p')).status, 202);
  await until(async () => (await w.types(sessionId)).at(-1) === 'turn_finished');
  await post(request('logout', 'logout'));
  assert.equal((await stream.event(1)).frame.id, 'logout');
  await post(request('load', 'session/load', load), here);
  await until(() => namesOf(stream).includes('load'));
  const open = await server.listen({ ...mine, ...here });
  await until(() => namesOf(open).includes('p'));
  assert.ok(namesOf(open).indexOf('p') > 0);
  await post(request('again', 'session/load', load), here);
  await until(() => namesOf(open).includes('again'));
  await post(request('nothing', '_vendor/x', { sessionId }), here);
  await until(() => namesOf(open).includes('nothing'));
  assert.ok(open.events.every(({ frame }) => frame.method === undefined || frame.params?.sessionId === sessionId));
  assert.deepEqual(
    namesOf(stream).filter((name) => !String(name).startsWith('_')),
    ['new', 'logout', 'load'],
  );
});

test('[SHTTP2] a question is put, answered and withdrawn on the stream of its Session', async (t) => {
  const { w, server, mine, stream, post, here, prompt, sessionId } = await stage(t, {
    script: [...poking, ...poking],
    settings: { permissionCeiling: 'ask' },
  });
  const open = await server.listen({ ...mine, ...here });
  await prompt('p');
  await until(() => namesOf(open).includes('session/request_permission'));
  const asked = open.events.find(({ frame }) => frame.method === 'session/request_permission')?.frame;
  const answer = { jsonrpc: '2.0', id: asked?.id, result: { outcome: { outcome: 'selected', optionId: 'allow' } } };
  assert.equal((await post(answer)).status, 400);
  assert.equal((await post(answer, session('another'))).status, 400);
  assert.equal((await post(answer, here)).status, 202);
  await until(() => namesOf(open).includes('p'));
  await prompt('q');
  await until(() => namesOf(open).filter((name) => name === 'session/request_permission').length === 2);
  await post({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } }, here);
  await until(() => namesOf(open).includes('q'));
  assert.equal(namesOf(open).filter((name) => name === '$/cancel_request').length, 1);
  assert.ok(!namesOf(stream).includes('$/cancel_request'));
  assert.equal((await w.types(sessionId)).filter((type) => type === 'permission_decision').length, 2);
});

/** Two streams with ten frames each, taken by turns. */
async function written(t: TestContext) {
  const { openPeer, peers } = puppets();
  const server = await startStreamable(t, { openPeer });
  const mine = await server.connect();
  const transport = peers[0]?.transport ?? assert.fail();
  const [one, two] = [
    await server.listen({ ...mine, ...session('s1') }),
    await server.listen({ ...mine, ...session('s2') }),
  ];
  for (let n = 0; n < 10; n++) {
    transport.send(about('s1', n));
    transport.send(about('s2', n));
  }
  await Promise.all([one.event(9), two.event(9)]);
  const reopen = (sessionId: string, headers: Headers = {}) =>
    server.listen({ ...mine, ...session(sessionId), ...headers });
  return { server, mine, transport, peer: peers[0] ?? assert.fail(), one, two, reopen };
}

test('[SHTTP4] after any event the stream goes on with the next, whether or not the cut was noticed', async (t) => {
  const { one, two, reopen, transport } = await written(t);
  let stream = one;
  for (const [n, { id }] of one.events.entries()) {
    if (n % 2 === 0) stream.cut();
    stream = await reopen('s1', after(id));
    assert.equal(stream.status, 200);
    await until(() => stream.events.length === 9 - n);
    assert.deepEqual(stream.events, one.events.slice(n + 1));
  }
  transport.send(about('s1', 10));
  assert.equal((await stream.event(0)).frame.params?.n, 10);
  await one.ended;
  assert.deepEqual(numbersOf(two), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('[SHTTP4] what is not known to follow is refused with 409; who reads already goes on reading', async (t) => {
  const { one, two, reopen, transport, server, mine } = await written(t);
  const last = Number(two.events[9]?.id);
  assert.equal((await reopen('s1', after(one.events[4]?.id ?? ''))).status, 200);
  // Confirmed frames are not kept.
  const bad = [
    one.events[3]?.id ?? '',
    last + 1,
    '',
    '-1',
    'x',
    `${last}.0`,
    '9'.repeat(400),
    `${one.events[9]?.id}, 1`,
  ];
  for (const id of bad) assert.equal((await reopen('s1', after(id))).status, 409, String(id));
  assert.equal((await reopen('s1')).status, 409);
  assert.equal((await reopen('s2')).status, 409);
  transport.send(about('s2', 10));
  assert.equal((await two.event(10)).frame.params?.n, 10);
  const connection = await server.listen(mine);
  transport.send(note('_test/n', {}));
  const { id } = await connection.event(0);
  connection.cut();
  let again = await server.listen({ ...mine, ...after(id) });
  assert.equal(again.status, 200);
  again.cut();
  // There is nothing to attach again on the stream of the connection: it is lost.
  for (let n = 0; n < 3; n++) {
    again = await server.listen(mine);
    assert.equal(again.status, 409);
  }
});

test('[SHTTP4] more is kept than a moment, and less than a quarter of a megabyte for all streams', async (t) => {
  const { one, two, reopen, transport } = await written(t);
  const large = (n: number) => note('_test/n', { sessionId: 's1', n, pad: 'x'.repeat(10_000) });
  for (let n = 10; n < 30; n++) transport.send(large(n));
  await one.event(29);
  const kept = await reopen('s1', after(one.events[9]?.id ?? ''));
  await until(() => kept.events.length === 20);
  for (let n = 30; n < 70; n++) transport.send(large(n));
  await kept.event(59);
  // The other stream's frames are gone as well, all of them: there is nothing more to lose after its last.
  assert.equal((await reopen('s2', after(two.events[8]?.id ?? ''))).status, 409);
  assert.equal((await reopen('s2', after(two.events[9]?.id ?? ''))).status, 200);
  assert.equal((await reopen('s1', after(kept.events[20]?.id ?? ''))).status, 409);
  assert.equal((await reopen('s1', after(kept.events[50]?.id ?? ''))).status, 200);
});

test('[SHTTP4] who has lost its place is detached: nothing comes until it attaches, and then all of it', async (t) => {
  const { w, server, mine, here, prompt, post, sessionId } = await stage(t, {
    script: poking,
    settings: { permissionCeiling: 'ask' },
  });
  const questions = ({ events }: EventStream) =>
    events.flatMap(({ frame }) => (frame.method === 'session/request_permission' ? [frame] : []));
  const lost = await server.listen({ ...mine, ...here });
  await prompt('p');
  await until(() => questions(lost).length > 0);
  lost.cut();
  // Until the cut is noticed somebody reads, and then this client is told once that it has lost its place.
  let open = await server.listen({ ...mine, ...here });
  for (; open.status !== 200; open = await server.listen({ ...mine, ...here })) assert.equal(open.status, 409);
  const other = await w.client(people('ada').principal);
  await other.request('session/set_mode', { sessionId, modeId: 'plan' });
  await post(request('logout', 'logout'), here);
  await until(() => namesOf(open).includes('logout'));
  assert.deepEqual(namesOf(open), ['logout']);
  await post(request('load', 'session/load', { sessionId, cwd: w.dir, mcpServers: [] }), here);
  await until(() => questions(open).length > 0 && namesOf(open).includes('load'));
  assert.deepEqual(kindsOf(open).slice(0, 3), ['user_message_chunk', 'tool_call', 'current_mode_update']);
  const [question] = questions(open);
  assert.deepEqual(question?.params?._meta, questions(lost)[0]?.params?._meta);
  await post({ jsonrpc: '2.0', id: question?.id, result: { outcome: { outcome: 'cancelled' } } }, here);
  await until(() => namesOf(open).includes('p'));
});
