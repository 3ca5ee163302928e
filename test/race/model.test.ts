import { test } from 'node:test';
import fc from 'fast-check';
import { finish, say } from '../../src/providers/script.ts';
import { seeded } from '../support/seeded.ts';
import { world } from '../support/world.ts';
import { FOUND } from './model/found.ts';
import { play } from './model/play.ts';
import { schedule } from './model/schedule.ts';

const RUNS = process.env.PIXIR_NIGHTLY === '1' ? 2_000 : 200;

test('[MODEL1] whatever happens in whatever order, everybody sees what was recorded, and everything was done once', async () => {
  const seed = Math.floor(seeded('MODEL1')() * 2 ** 31);
  await fc.assert(fc.asyncProperty(schedule, play), { numRuns: RUNS, seed });
});

for (const [name, found] of Object.entries(FOUND)) test(`[MODEL2] never again: ${name}`, () => play(found));

test('[MODEL2] never again: a connection that ends in the moment of its prompt occupies the server for ever', async () => {
  // One microtask more each time: which one it takes is nobody's promise.
  for (let microtasks = 0; microtasks < 30; microtasks++) {
    await using w = await world({ script: [[{ type: 'wait', gate: 'end' }, ...say('Done.'), finish()]] });
    const sessionId = await (await w.client()).newSession(w.dir);
    const client = await w.client();
    const prompt = [{ type: 'text', text: 'go' }];
    client.raw({ jsonrpc: '2.0', id: 99, method: 'session/prompt', params: { sessionId, prompt } });
    for (let n = 0; n < microtasks; n++) await undefined;
    client.close();
    w.provider.open('end');
    while ((await w.log.session(sessionId))?.openTurnId) await new Promise(setImmediate);
    await new Promise(setImmediate);
  }
});
