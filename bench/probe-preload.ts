/**
 * Loaded into a server before itself: on SIGUSR2 it tells on stderr what only the process knows of itself, and begins to
 * count anew. It must never change what the server does.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Reading } from './probe.ts';

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

let [since, used] = [performance.now(), process.cpuUsage()];

process.on('SIGUSR2', () => {
  const loop = { median: delay.percentile(50) / 1e6, p99: delay.percentile(99) / 1e6, worst: delay.max / 1e6 };
  const { user, system } = process.cpuUsage(used);
  const busy = (user + system) / 1_000 / (performance.now() - since);
  delay.disable();
  // What a first collection finalizes, a second one frees.
  globalThis.gc?.();
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const reading: Reading = { loop, busy, rss, heapUsed };
  process.stderr.write(`\nprobe ${JSON.stringify(reading)}\n`);
  delay.reset();
  delay.enable();
  [since, used] = [performance.now(), process.cpuUsage()];
});
