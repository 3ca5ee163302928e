/** Three figures of the process as Prometheus text. It must never count by client, Session or path. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';

export function registerMetrics(app: FastifyInstance, connections: () => number): void {
  const delay = monitorEventLoopDelay();
  delay.enable();
  app.addHook('onClose', async () => {
    delay.disable();
  });

  app.get('/metrics', (_request, reply) => {
    const figures = [
      gauge('pixir_connections', 'Connected ACP clients.', connections()),
      gauge('process_resident_memory_bytes', 'Memory of the process.', process.memoryUsage.rss()),
      gauge('nodejs_eventloop_lag_p99_seconds', 'Event loop delay since the last scrape.', delay.percentile(99) / 1e9),
    ];
    delay.reset();
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(figures.join(''));
  });
}

function gauge(name: string, help: string, value: number): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`;
}
