/** Streamable HTTP: clients that do not read, or post faster than they may. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { finish, say } from '../../src/providers/script.ts';
import { APP_LIMITS } from '../support/app-limits.ts';
import {
  as,
  type EventStream,
  type Headers,
  namesOf,
  note,
  puppets,
  request,
  session,
  stage,
  startStreamable,
  type Update,
  until,
} from './streamable-support.ts';

/** More than the kernel takes. */
const PIECES = Array.from({ length: 192 }, (_, n) => `${n}:${'x'.repeat(64 * 1024)};`);
const flood = { script: [[...PIECES.flatMap(say), finish()]] };
const textOf = ({ events }: EventStream) =>
  events.map(({ frame: { params } }) => (params?.update as Update | undefined)?.content?.text ?? '').join('');

for (const reader of ['that does not read', 'that listens later'] as const) {
  test(`[SHTTP5] for a client ${reader} less than 2 MiB wait, and it gets everything, once`, async (t) => {
    const { w, server, mine, here, prompt, sessionId, unsent } = await stage(t, flood);
    const listening = reader === 'that does not read' ? await server.listen({ ...mine, ...here }) : undefined;
    listening?.pause();
    await prompt('p');
    await until(async () => (await w.types(sessionId)).at(-1) === 'turn_finished');
    assert.ok(unsent() > 0 && unsent() < 2 * 1024 * 1024, `${unsent()}`);
    const open = listening ?? (await server.listen({ ...mine, ...here }));
    open.resume();
    await until(() => namesOf(open).includes('p'));
    const text = textOf(open);
    assert.ok(text === PIECES.join(''), `${text.length} of ${PIECES.join('').length}`);
    await until(() => unsent() === 0);
  });
}

test('[SHTTP5] a stream that is cut while much waits goes on, or its client is told; a client that takes nothing is cut off', async (t) => {
  const { w, server, mine, here, prompt, sessionId, unsent } = await stage(t, flood);
  const deaf = await server.listen({ ...mine, ...here });
  deaf.pause();
  await prompt('p');
  await until(async () => (await w.types(sessionId)).at(-1) === 'turn_finished');
  deaf.cut();
  w.clock.advance(30_000);
  await until(async () => {
    w.clock.advance(30_000);
    return (await server.ask('POST', mine, request('x', 'logout'))).status === 404;
  });
  assert.equal(unsent(), 0);
  assert.equal((await w.types(sessionId)).at(-1), 'turn_finished');
});

test('[SHTTP6] messages reach the Peer in the order in which their bodies were complete, and no faster than the rate', async (t) => {
  const { openPeer, peers } = puppets();
  const limits = { ...APP_LIMITS, maxMessagesPerSecond: 10 };
  const server = await startStreamable(t, { openPeer, limits });
  const mine = await server.connect();
  const stream = await server.listen(mine);
  const received = () => peers[0]?.received.slice(1).map((text) => (JSON.parse(text) as { id: unknown }).id) ?? [];

  const headers = { ...as('ada'), ...mine, host: `127.0.0.1:${server.port}`, 'content-type': 'application/json' };
  const posted = (id: unknown) => {
    const body = JSON.stringify(request(id, '_test/n'));
    const lines = Object.entries({ ...headers, 'content-length': body.length }).map((pair) => pair.join(': '));
    return `POST /acp HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
  };
  const [early, quick] = [connect(server.port, '127.0.0.1'), connect(server.port, '127.0.0.1')];
  t.after(() => [early, quick].map((socket) => socket.destroy()));
  const first = posted('begun first');
  early.write(first.slice(0, -1));
  quick.write(posted('complete first'));
  await until(() => received().length === 1);
  early.write(first.slice(-1));
  await until(() => received().length === 2);
  assert.deepEqual(received(), ['complete first', 'begun first']);

  const numbers = Array.from({ length: 30 }, (_, n) => n);
  quick.write(numbers.map(posted).join(''));
  await until(() => received().length >= 10);
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  assert.equal(received().length, 10);
  while (received().length < 32) {
    server.clock.advance(500);
    await new Promise(setImmediate);
  }
  assert.deepEqual(received().slice(2), numbers);
  await until(() => stream.events.length === 32);
});

test('[SHTTP6] who never lets up for 30 s is cut off, and what waits is answered 404', async (t) => {
  const { openPeer, peers } = puppets();
  const server = await startStreamable(t, { openPeer, limits: { ...APP_LIMITS, maxMessagesPerSecond: 1 } });
  const mine = await server.connect();
  const sent = Array.from({ length: 60 }, (_, n) => server.ask('POST', mine, request(n, '_test/n')));
  for (let n = 0; n < 60; n++) {
    server.clock.advance(1_000);
    await new Promise(setImmediate);
  }
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  assert.deepEqual([...new Set(statuses)].sort(), [202, 404]);
  assert.equal(peers[0]?.closed, 1);
});

test('[SHTTP8] a client that posts and never reads is refused before its answers fill the memory, and so are Sessions without end', async (t) => {
  const { openPeer, peers } = puppets();
  const server = await startStreamable(t, { openPeer });
  const mine = await server.connect();
  const limitOf = async (headers: Headers) => {
    const answer = await server.ask('POST', { ...mine, ...headers }, request(1, '_test/n'));
    return answer.status === 429 ? ((await answer.json()) as { limit: string }).limit : answer.status;
  };
  for (let n = 0; n < 1_023; n++) assert.equal(await limitOf(session(`s${n}`)), 202);
  assert.equal(await limitOf({}), 202);
  assert.equal(await limitOf(session('one more')), 'sessions_of_a_connection');
  assert.equal((await server.listen({ ...mine, ...session('one more') })).status, 429);
  assert.equal(await limitOf(session('s7')), 202);
  peers[0]?.transport.send(note('_test/x', { pad: 'x'.repeat(9 * 1024 * 1024) }));
  assert.equal(await limitOf({}), 'unsent_bytes');
  const stream = await server.listen(mine);
  await stream.event(1);
  await until(async () => (await limitOf({})) === 202);
});
