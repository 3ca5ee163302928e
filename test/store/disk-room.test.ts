import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type DiskRoomOptions, diskRoom } from '../../src/store/disk-room.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { tempDir } from '../support/temp-dir.ts';

/** A disk that the test fills and empties. */
function disk(minFreeBytes: number) {
  const clock = fakeClock();
  const state = { bavail: 100, bsize: 10, blocks: 1_000, broken: false, measured: 0, low: [] as number[] };
  const options: DiskRoomOptions = {
    dir: '/data',
    minFreeBytes,
    clock,
    onLow: (free) => state.low.push(free),
    async measure() {
      state.measured++;
      if (state.broken) throw new Error('EIO');
      return state;
    },
  };
  return { clock, state, hasRoom: diskRoom(options) };
}

test('[LIMIT4] room is what is left for others than root, to the byte', async () => {
  assert.equal(await disk(1_000).hasRoom(), true);
  assert.equal(await disk(1_001).hasRoom(), false);
});

test('[LIMIT4] the disk is measured once a second, however many ask, and also when the clock is set back', async () => {
  const { clock, state, hasRoom } = disk(1_000);
  await Promise.all(Array.from({ length: 100 }, hasRoom));
  state.bavail = 99;
  clock.advance(999);
  assert.deepEqual([await hasRoom(), state.measured], [true, 1]);
  clock.advance(1);
  assert.deepEqual([await hasRoom(), state.measured], [false, 2]);
  state.bavail = 100;
  clock.advance(-3_600_000);
  assert.deepEqual([await hasRoom(), state.measured], [true, 3]);
});

test('[LIMIT4] the operator is told once each time the room becomes too little', async () => {
  const { clock, state, hasRoom } = disk(1_000);
  for (const bavail of [100, 99, 0, 100, 50, 49]) {
    state.bavail = bavail;
    clock.advance(1_000);
    await hasRoom();
  }
  assert.deepEqual(state.low, [990, 500]);
});

test('[LIMIT4] what cannot be measured, or keeps no count, has room', async () => {
  const failing = disk(1_000);
  failing.state.broken = true;
  assert.equal(await failing.hasRoom(), true);
  const uncounted = disk(1_000);
  Object.assign(uncounted.state, { bavail: 0, blocks: 0 });
  assert.equal(await uncounted.hasRoom(), true);
  await using temp = await tempDir();
  const clock = fakeClock();
  const onLow = () => undefined;
  assert.equal(await diskRoom({ dir: join(temp.path, 'none'), minFreeBytes: 1, clock, onLow })(), true);
});

test('[LIMIT4] a real directory is measured', async () => {
  await using temp = await tempDir();
  const clock = fakeClock();
  const room = (minFreeBytes: number) => diskRoom({ dir: temp.path, minFreeBytes, clock, onLow: () => undefined })();
  assert.deepEqual([await room(1), await room(Number.MAX_SAFE_INTEGER)], [true, false]);
});
