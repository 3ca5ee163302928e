/**
 * Cuts the power at random instants of a recorded run, and opens what a disk could be left with. Without strace it must
 * say that it was skipped, never pass.
 */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openSqliteLog } from '../../src/store/sqlite-log.ts';
import { migrationsDir } from '../store/sqlite-support.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { seeded } from '../support/seeded.ts';
import { tempDir } from '../support/temp-dir.ts';
import { type Disk, simulatedDisk } from './power-cut/disk.ts';
import { cannotTrace, type Operation, traceNode } from './power-cut/trace.ts';

const WORKLOAD = join(import.meta.dirname, 'power-cut', 'workload.ts');
const DATABASE = 'pixir.db';
const skip = cannotTrace();

test('[POWER1] a power cut loses nothing that was acknowledged', { skip }, async (t) => {
  assert.deepEqual(await cutPower(t, 'FULL', 600), []);
});

test('[POWER2] the control loses: with synchronous=NORMAL the same cuts cost Events', { skip }, async (t) => {
  assert.notDeepEqual(await cutPower(t, 'NORMAL', 150), []);
});

/** Whatever is damaged fails the test. @returns for each cut that lost something, the acknowledged Events it lost. */
async function cutPower(t: TestContext, synchronous: 'FULL' | 'NORMAL', cuts: number): Promise<string[][]> {
  const random = seeded(`power cuts with synchronous=${synchronous}`);
  const operations = await record(synchronous);
  // Squared, so that the first moments of the database get their share.
  const instants = Array.from({ length: cuts }, () => Math.floor(random() ** 2 * (operations.length + 1)));
  const disk = simulatedDisk();
  const acknowledged: string[] = [];
  const losses: string[][] = [];
  let done = 0;
  for (const instant of instants.sort((a, b) => a - b)) {
    for (const operation of operations.slice(done, instant)) {
      disk.apply(operation);
      if (operation.kind === 'say') acknowledged.push(...acknowledgements(operation.text));
    }
    done = instant;
    const survivors = await survivorsOf(disk.cut(random));
    const lost = acknowledged.filter((event) => !survivors.has(event));
    if (lost.length > 0) losses.push(lost);
  }
  const most = Math.max(0, ...losses.map(({ length }) => length));
  t.diagnostic(`${losses.length} of ${cuts} cuts lost something, at most ${most} Events`);
  return losses;
}

/** What the workload did to its files, and what it said. */
async function record(synchronous: 'FULL' | 'NORMAL'): Promise<Operation[]> {
  await using temp = await tempDir();
  const dir = join(temp.path, 'data');
  const file = join(dir, DATABASE);
  await mkdir(dir);
  const workload = [WORKLOAD, file, migrationsDir, ...(synchronous === 'NORMAL' ? [synchronous] : [])];
  const operations = await traceNode(workload, dir, join(temp.path, 'trace'));
  const syncs = operations.filter((operation) => operation.kind === 'sync' && operation.path === file);
  // One for its creation and one for each of the three times it is closed; more are checkpoints while it is in use.
  assert.ok(syncs.length > 4, 'the WAL is checkpointed while it is in use');
  return operations;
}

function acknowledgements(said: string): string[] {
  return said.match(/(?<=^ACK ).+$/gm) ?? [];
}

/** Opens the database as a server would after the cut. @returns `session seq chk` of every Event. */
async function survivorsOf(files: ReturnType<Disk['cut']>): Promise<Set<string>> {
  await using temp = await tempDir();
  for (const [path, bytes] of files) await writeFile(join(temp.path, basename(path)), bytes);
  const log = openSqliteLog({ file: join(temp.path, DATABASE), migrationsDir, clock: fakeClock() });
  const survivors = new Set<string>();
  assert.deepEqual(await log.verifyDatabase(), []);
  for (const { sessionId } of await log.sessions({})) {
    assert.ok((await log.verifySession(sessionId)).ok);
    const entries = await log.read(sessionId, -1, 100_000);
    for (const { event, chk } of entries) survivors.add(`${sessionId} ${event.seq} ${chk}`);
  }
  await log.close();
  return survivors;
}
