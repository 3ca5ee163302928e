/** Liveness and readiness for whoever runs the server. They must never say more than up or not: anyone may ask. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from './logger.ts';

export function registerHealth(
  app: FastifyInstance,
  readiness: () => boolean | Promise<boolean>,
  logger: Logger,
): void {
  app.get('/healthz', async () => ({ status: 'ok' }));

  app.get('/readyz', async (_request, reply) => {
    const ready = await isReady(readiness, logger);
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'unavailable' });
  });
}

/** A check that fails is an answer, not a fault of the request. */
async function isReady(readiness: () => boolean | Promise<boolean>, logger: Logger): Promise<boolean> {
  try {
    return await readiness();
  } catch (error) {
    logger.error({ err: error }, 'readiness check failed');
    return false;
  }
}
