/**
 * Commits in the main thread, as the store makes them, against the same store in a thread of its own: the figures of
 * docs/adr/0006. Each is a process, and they work by turns of half a second, so that a noisy moment strikes both.
 *
 *     node bench/writer-thread.ts [--rounds N] [--fsync MS]     --fsync: on a disk that needs MS longer (with strace)
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isMainThread, type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import { systemClock } from '../src/core/clock.ts';
import type { EventDraft } from '../src/core/event.ts';
import type { Entry } from '../src/core/log.ts';
import { openSqliteLog } from '../src/store/sqlite-log.ts';
import { now, quantile, repeat } from './measure.ts';
import { cleanUpAtExit, environmentOf, REPOSITORY, scratchDirectory } from './processes.ts';

const VARIANTS = ['in-thread', 'writer thread'] as const;
type Variant = (typeof VARIANTS)[number];

/** `pause` is the rest between two appends of one Session. */
interface Load {
  name: string;
  sessions: number;
  pause?: number;
}

const LOADS: readonly Load[] = [
  { name: 'lone append', sessions: 1, pause: 5 },
  { name: '1 Session', sessions: 1 },
  { name: '10 Sessions', sessions: 10 },
  { name: '100 Sessions', sessions: 100 },
];

const METRICS = {
  rate: 'appends/s',
  median: 'append, median ms',
  p99: 'append, p99 ms',
  loopP99: 'event loop delay, p99 ms',
  loopMax: 'event loop delay, max ms',
  cpu: 'CPU s per 10,000 appends',
  mainCpu: 'of it in the main thread',
  rss: 'RSS MiB',
} as const;
type Figures = Record<keyof typeof METRICS, number>;

const SPELL_MS = 500;
/** An Event of about 280 bytes as it is stored. */
const TEXT = 'x'.repeat(105);

type Append = (drafts: readonly EventDraft[]) => Promise<Entry[]>;

function openLog(file: string): Append {
  return openSqliteLog({ file, migrationsDir: join(REPOSITORY, 'migrations'), clock: systemClock }).append;
}

interface Numbered<T> {
  id: number;
  value: T;
}

/** Hands on as one message what is sent within one tick. */
function batched<T>(post: (batch: T[]) => void): (item: T) => void {
  let batch: T[] = [];
  return (item) => {
    if (batch.push(item) > 1) return;
    process.nextTick(() => {
      post(batch);
      batch = [];
    });
  };
}

function serveThread(port: MessagePort, file: string): void {
  const append = openLog(file);
  const reply = batched<Numbered<Entry[]>>((batch) => port.postMessage(batch));
  port.on('message', async (requests: Numbered<readonly EventDraft[]>[]) => {
    await Promise.all(requests.map(async ({ id, value }) => reply({ id, value: await append(value) })));
  });
}

function openThread(file: string): Append {
  const worker = new Worker(import.meta.filename, { workerData: file });
  const request = batched<Numbered<readonly EventDraft[]>>((batch) => worker.postMessage(batch));
  const waiting = new Map<number, (entries: Entry[]) => void>();
  let last = 0;
  worker.on('message', (replies: Numbered<Entry[]>[]) => {
    for (const { id, value } of replies) {
      waiting.get(id)?.(value);
      waiting.delete(id);
    }
  });
  return (drafts) => {
    const { promise, resolve } = Promise.withResolvers<Entry[]>();
    last += 1;
    waiting.set(last, resolve);
    request({ id: last, value: drafts });
    return promise;
  };
}

/** Works for half a second whenever it is told to. The first time warms up. */
async function work(variant: Variant, { sessions, pause }: Load, file: string): Promise<void> {
  const append = variant === 'in-thread' ? openLog(file) : openThread(file);
  const ids = Array.from({ length: sessions }, (_, index) => `session-${index}`);
  const data = { workspace: '/w', mode: 'build', permissionCeiling: 'auto', owner: 'bench' } as const;
  await Promise.all(ids.map((sessionId) => append([{ sessionId, type: 'session_created', data }])));

  async function writeTo(sessionId: string, until: number, times: number[]): Promise<void> {
    while (now() < until) {
      const began = now();
      const said = { turnId: 'turn_1', messageId: 'msg_1', text: TEXT };
      await append([{ sessionId, type: 'assistant_message', data: said }]);
      times.push(now() - began);
      if (pause) await delay(pause);
    }
  }

  process.on('message', async () => {
    const loop = monitorEventLoopDelay({ resolution: 1 });
    loop.enable();
    const [cpu, mainCpu, began] = [process.cpuUsage(), process.threadCpuUsage(), now()];
    const times: number[] = [];
    await Promise.all(ids.map((sessionId) => writeTo(sessionId, began + SPELL_MS, times)));
    const seconds = (now() - began) / 1_000;
    loop.disable();
    const per10k = ({ user, system }: NodeJS.CpuUsage) => ((user + system) / 1e6 / times.length) * 10_000;
    const figures: Figures = {
      rate: times.length / seconds,
      median: quantile(times),
      p99: quantile(times, 0.99),
      loopP99: loop.percentile(99) / 1e6,
      loopMax: loop.max / 1e6,
      cpu: per10k(process.cpuUsage(cpu)),
      mainCpu: per10k(process.threadCpuUsage(mainCpu)),
      rss: process.memoryUsage.rss() / 2 ** 20,
    };
    process.send?.(figures);
  });
}

interface Contender {
  go(): Promise<Figures>;
  stop(): void;
}

function start(variant: Variant, load: Load, fsync: string | undefined): Contender {
  const directory = scratchDirectory('writer');
  const slower = `inject=fsync,fdatasync:delay_exit=${Number(fsync) * 1_000}`;
  const strace = ['-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', '-e', 'trace=fsync,fdatasync', '-e', slower];
  const command = fsync === undefined ? {} : { execPath: 'strace', execArgv: [...strace, process.execPath] };
  const role = ['--work', JSON.stringify([variant, load, join(directory, 'bench.db')])];
  const child = fork(import.meta.filename, role, { ...command, env: environmentOf(directory) });
  return {
    async go() {
      child.send('go');
      const [figures] = (await once(child, 'message')) as [Figures];
      return figures;
    },
    // It ends by itself, with strace, when nobody can tell it to go on.
    stop: () => child.disconnect(),
  };
}

async function compare(rounds: number, fsync: string | undefined): Promise<void> {
  cleanUpAtExit();
  console.log(`| | ${VARIANTS.join(' | ')} | ratio |\n|---|---|---|---|`);
  for (const load of LOADS) {
    const [ours, theirs] = [start('in-thread', load, fsync), start('writer thread', load, fsync)];
    const [, ...taken] = await repeat(rounds + 1, async () => [await ours.go(), await theirs.go()] as const);
    ours.stop();
    theirs.stop();
    for (const [metric, name] of Object.entries(METRICS) as [keyof Figures, string][]) {
      const columns = [
        taken.map(([our]) => our[metric]),
        taken.map(([, their]) => their[metric]),
        taken.map(([our, their]) => their[metric] / our[metric]),
      ];
      console.log(
        `| ${[`${load.name}: ${name}`, ...columns.map((column) => quantile(column).toPrecision(3))].join(' | ')} |`,
      );
    }
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '15' }, fsync: { type: 'string' }, work: { type: 'string' } },
  });
  if (values.work === undefined) return compare(Number(values.rounds), values.fsync);
  process.once('disconnect', () => process.exit());
  return work(...(JSON.parse(values.work) as [Variant, Load, string]));
}

if (isMainThread) await main();
else if (parentPort) serveThread(parentPort, workerData);
