/** The end of an agent on stdio. */
import type { Client } from '../client.ts';
import { within } from '../deadline.ts';
import { expect, type Requirement, restingOn, Unmet } from '../requirement.ts';
import { busyTurn, newSession } from '../steps.ts';
import { initialize, type World } from '../world.ts';

const OVER = { over: 'stdio' } as const;

export const shutdown: Requirement[] = restingOn('INIT-001', [
  {
    ...OVER,
    id: 'SHUTDOWN-001',
    level: 'SHOULD',
    title: 'at the end of stdin it exits, with code 0',
    cases: ['C107'],
    async run(world) {
      const client = await world.fresh();
      await initialize(client);
      client.transport.end();
      await expectExit(world, client);
    },
  },
  {
    ...OVER,
    id: 'C107',
    level: 'MAY',
    title: 'at the end of stdin in mid-Turn it exits too',
    restsOn: ['SHUTDOWN-001', 'CANCEL-001'],
    async run(world) {
      const client = await world.freshWith({});
      const { sessionId } = await newSession(world, client);
      await busyTurn(world, client, sessionId);
      client.transport.end();
      await expectExit(world, client);
    },
  },
]);

async function expectExit({ timeout }: World, { transport }: Client): Promise<void> {
  const { code, reason } = await within(timeout, transport.closed, () => {
    throw new Unmet(`it still runs ${timeout} ms after the end of stdin`);
  });
  expect(code === 0, `it ended with ${reason}`);
}
