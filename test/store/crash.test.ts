import assert from 'node:assert/strict';
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { openSqliteLog } from '../../src/store/sqlite-log.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { tempDir } from '../support/temp-dir.ts';
import { migrationsDir } from './sqlite-support.ts';

const APPENDER = join(import.meta.dirname, 'appender.ts');
const LANES = 4;
const KILLS_PER_LANE = 5;

/** What the process said it had recorded: `seq id chk` by Session. */
type Acknowledged = Map<string, string[]>;

/** Starting is most of what these tests cost. */
const compiled = await tempDir();
after(() => compiled[Symbol.asyncDispose]());
const options: SpawnOptions = {
  stdio: ['ignore', 'pipe', 2],
  env: { ...process.env, NODE_COMPILE_CACHE: compiled.path },
};

test('[STORE7] an I/O error in a commit costs nothing that was acknowledged', async () => {
  await using temp = await tempDir();
  const file = join(temp.path, 'pixir.db');
  const acknowledged: Acknowledged = new Map();
  // The largest file this process may write: SQLite meets it in the middle of a commit, as SQLITE_IOERR_WRITE.
  const limited = ['-c', 'ulimit -f 300; exec "$@"', 'sh', process.execPath, APPENDER, file, migrationsDir, '4000'];
  const child = spawn('/bin/sh', limited, options);
  const lines = await listen(child, acknowledged, (line) => line > 10_000 && child.kill('SIGKILL'));
  assert.equal(lines.at(-1), 'refused log_write_failed');
  assert.ok(acknowledged.size === 4);
  await check(file, acknowledged);
});

test('[STORE3] a process killed at any instant has recorded all that it acknowledged, without a gap', async () => {
  const lanes = Array.from({ length: LANES }, async () => {
    await using temp = await tempDir();
    const file = join(temp.path, 'pixir.db');
    const acknowledged: Acknowledged = new Map();
    for (let kill = 0; kill < KILLS_PER_LANE; kill += 1) {
      // Some die while they open the database, some after a few commits, some in full flight.
      const lines = Math.floor(Math.random() ** 2 * 250);
      const child = spawn(process.execPath, [APPENDER, file, migrationsDir, '300'], options);
      await listen(child, acknowledged, (line) => line > lines && child.kill('SIGKILL'));
      assert.equal(child.signalCode, 'SIGKILL');
      await check(file, acknowledged);
    }
    return [...acknowledged.values()].flat().length;
  });
  const counts = await Promise.all(lanes);
  assert.ok(counts.every((count) => count > 0));
});

/** Collects what a child says until it has ended. `onLine` hears the number of each line as it comes. */
async function listen(child: ChildProcess, into: Acknowledged, onLine: (line: number) => void): Promise<string[]> {
  assert.ok(child.stdout);
  const closed = once(child, 'close');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    const [word, sessionId = '', ...rest] = line.split(' ');
    // The last line can be cut.
    if (word === 'ack' && rest.length === 3) into.set(sessionId, [...(into.get(sessionId) ?? []), rest.join(' ')]);
    onLine(lines.length);
  }
  await closed;
  return lines;
}

async function check(file: string, acknowledged: Acknowledged): Promise<void> {
  const log = openSqliteLog({ file, migrationsDir, clock: fakeClock() });
  assert.deepEqual(await log.verifyDatabase(), []);
  for (const { sessionId } of await log.sessions({})) assert.equal((await log.verifySession(sessionId)).ok, true);
  for (const [sessionId, expected] of acknowledged) {
    const entries = await log.read(sessionId, -1, 100_000);
    const recorded = new Set(entries.map(({ event, chk }) => `${event.seq} ${event.id} ${chk}`));
    for (const entry of expected) assert.ok(recorded.has(entry), `${sessionId} ${entry} was acknowledged and is gone`);
  }
  await log.close();
}
