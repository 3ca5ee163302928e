/** While a person is asked, everybody else goes on, and at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, finish, say } from '../../src/providers/script.ts';
import { world } from '../support/world.ts';

const ROUNDS = 21;

test('[ACP9] while a permission waits, new, list, load and the prompts of others are answered within 50 ms', async () => {
  const asks = [call('c1', 'poke', { text: 'x' }), finish()];
  const answers = Array.from({ length: ROUNDS }, () => [...say('Fine.'), finish()]);
  await using w = await world({ script: [asks, ...answers], settings: { permissionCeiling: 'ask' } });
  const client = await w.client();
  const [asking, other] = [await client.newSession(w.dir), await client.newSession(w.dir)];
  const waiting = client.prompt(asking, 'go');
  await client.frame(({ method }) => method === 'session/request_permission');

  const requests: Record<string, () => Promise<unknown>> = {
    'session/new': () => client.newSession(w.dir),
    'session/list': () => client.request('session/list'),
    'session/load': () => client.request('session/load', { sessionId: asking, cwd: w.dir, mcpServers: [] }),
    'session/prompt': () => client.prompt(other, 'go'),
  };
  for (const [name, ask] of Object.entries(requests)) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const begun = performance.now();
      await ask();
      times.push(performance.now() - begun);
    }
    // The median: what the machine does besides is not the agent's doing.
    const median = times.sort((a, b) => a - b)[(ROUNDS - 1) / 2] ?? Number.NaN;
    assert.ok(median < 50, `${name}: ${median} ms`);
  }
  client.notify('session/cancel', { sessionId: asking });
  assert.deepEqual(await waiting, { stopReason: 'cancelled' });
});
