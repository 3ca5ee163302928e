import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Link, type LinkState } from '../../src/client/link.ts';
import type { Address, WireEvents } from '../../src/client/ports.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { world } from '../support/world.ts';
import { live, settled, until } from './support.ts';

/** A link whose sockets the test answers for. */
function rig(random = () => 1) {
  const clock = fakeClock();
  const sockets: WireEvents[] = [];
  const states: LinkState[] = [];
  const heard: string[] = [];
  const machine = { online: true, status: 426, networkChanged: () => {}, closed: 0 };
  let addresses = 0;
  const link = new Link({
    address: (): Address => ({ url: `ws://pixir/${addresses++}`, protocols: [], headers: {} }),
    onMessage: (text) => heard.push(text),
    onState: (state) => states.push(state),
    ports: {
      connect(_address, on) {
        sockets.push(on);
        return { send() {}, close: () => void machine.closed++ };
      },
      status: async () => machine.status,
      online: () => machine.online,
      onOnline(callback) {
        machine.networkChanged = callback;
        return () => {
          machine.networkChanged = () => {};
        };
      },
      now: clock.now,
      after: clock.after,
      random,
    },
  });
  link.start();
  return { link, clock, sockets, states, heard, machine };
}

test('[LINK1] it comes back later each time, up to 30 s, and quickly again once it was of use', async () => {
  const { link, clock, sockets } = rig();
  const delays: number[] = [];
  for (let loss = 0; loss < 10; loss++) {
    await settled();
    sockets.at(-1)?.open();
    if (loss === 8) link.proved();
    const known = sockets.length;
    sockets.at(-1)?.closed(1006);
    let waited = 0;
    for (; sockets.length === known; waited += 50) {
      clock.advance(50);
      await Promise.resolve();
      await Promise.resolve();
      await Promise.resolve();
    }
    delays.push(waited);
  }
  assert.deepEqual(delays, [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 250, 500]);
});

test('[LINK2] the jitter is full: anywhere between nothing and the bound', async () => {
  const { clock, sockets } = rig(() => 0);
  await settled();
  sockets[0]?.open();
  sockets[0]?.closed(1006);
  clock.advance(0);
  await settled();
  assert.equal(sockets.length, 2);
});

test('[LINK3] each close code means what the table says', async () => {
  const stops: [number, string][] = [
    [4400, 'protocol'],
    [4401, 'credential'],
    [4403, 'forbidden'],
  ];
  for (const [code, reason] of stops) {
    const { link, clock, sockets } = rig();
    await settled();
    sockets[0]?.open();
    sockets[0]?.closed(code);
    assert.deepEqual(link.state, { kind: 'refused', reason });
    clock.advance(3_600_000);
    await settled();
    assert.equal(sockets.length, 1, `nothing is tried after ${code}`);
    link.start();
    await settled();
    assert.equal(sockets.length, 2, 'until somebody asks');
  }
  for (const [code, atLeast] of [
    [1000, 0],
    [1001, 0],
    [1009, 0],
    [1012, 0],
    [4408, 0],
    [4429, 5_000],
    [4500, 0],
  ] as const) {
    const { clock, sockets, states } = rig(() => 0);
    await settled();
    sockets[0]?.open();
    sockets[0]?.closed(code);
    assert.deepEqual(states.at(-1), { kind: 'waiting', code });
    if (atLeast > 0) clock.advance(atLeast - 1);
    await settled();
    assert.equal(sockets.length, atLeast > 0 ? 1 : 2, `${code}`);
    clock.advance(1);
    await settled();
    assert.equal(sockets.length, 2, `${code}`);
  }
});

test('[LINK4] a WebSocket that does not open is explained by a plain request', async () => {
  for (const [status, state] of [
    [401, { kind: 'refused', reason: 'credential' }],
    [403, { kind: 'refused', reason: 'forbidden' }],
    [426, { kind: 'waiting', code: undefined }],
    [503, { kind: 'waiting', code: undefined }],
  ] as const) {
    const { link, sockets, machine } = rig();
    machine.status = status;
    await settled();
    sockets[0]?.closed(1006);
    await settled();
    assert.deepEqual(link.state, state);
  }
});

test('[LINK5] 45 s of silence end a connection that reports nothing; a late word of it is not heard', async () => {
  const { link, clock, sockets, heard, machine } = rig();
  await settled();
  sockets[0]?.open();
  for (let beat = 0; beat < 10; beat++) {
    clock.advance(15_000);
    sockets[0]?.message(`beat ${beat}`);
  }
  assert.equal(link.state.kind, 'open');
  for (let silent = 0; silent < 3; silent++) clock.advance(15_000);
  assert.deepEqual([link.state.kind, machine.closed], ['waiting', 1]);
  sockets[0]?.message('too late');
  sockets[0]?.closed(1006);
  clock.advance(250);
  await settled();
  sockets[1]?.open();
  assert.deepEqual([heard.length, link.state.kind], [10, 'open']);
});

test('[LINK6] without a network nothing is tried; with one again, at once', async () => {
  const { link, clock, sockets, machine } = rig();
  await settled();
  sockets[0]?.open();
  machine.online = false;
  sockets[0]?.closed(1006);
  clock.advance(3_600_000);
  await settled();
  assert.deepEqual([link.state.kind, sockets.length], ['offline', 1]);
  machine.online = true;
  machine.networkChanged();
  await settled();
  assert.equal(sockets.length, 2);
  link.close();
  sockets[1]?.open();
  machine.networkChanged();
  assert.equal(link.state.kind, 'closed');
  assert.equal(link.send('x'), false);
});

test('[CLIENT12] the state is honest: catching up is not live, and a refusal is final until somebody retries', async () => {
  await using w = await world();
  const { client, network, states } = live(() => w);
  const session = await client.newSession({ cwd: w.dir });
  await until(w, 'live', () => client.state.kind === 'live');
  assert.equal(session.caughtUp, true);
  network.status = 401;
  network.reachable = false;
  network.cut();
  await until(w, 'refused', () => client.state.kind === 'refused', 250);
  assert.deepEqual(client.state, { kind: 'refused', reason: 'credential' });
  await assert.rejects(client.newSession({ cwd: w.dir }), /credential/);
  network.reachable = true;
  client.retry();
  await until(w, 'live again', () => client.state.kind === 'live');
  assert.deepEqual(states, [
    'catching_up',
    'live',
    'catching_up',
    'live',
    'reconnecting',
    'refused',
    'reconnecting',
    'catching_up',
    'live',
  ]);
  client.close();
});
