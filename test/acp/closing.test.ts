import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../support/world.ts';

const settled = () => new Promise(setImmediate);
/** 2 MB, and then nothing. */
const long = [
  ...Array.from({ length: 10 }, (_, n) => ({ type: 'message' as const, text: `${n}:${'x'.repeat(200_000)}` })),
  { type: 'hang' as const },
];

for (const method of ['session/close', 'session/delete']) {
  test(`[LIFE3] [LIFE5] ${method} of a client that is behind: its prompt is answered first`, async () => {
    await using w = await world({ script: [long] });
    const { client, ...wire } = w.connect();
    await client.initialize();
    const sessionId = await client.newSession(w.dir);
    wire.pause();
    const prompt = client.prompt(sessionId, 'go');
    while ((await w.types(sessionId)).filter((type) => type === 'assistant_message').length < 10) await settled();
    const ended = client.request(method, { sessionId });
    for (let turn = 0; turn < 20; turn++) await settled();
    wire.resume();
    assert.deepEqual([await prompt, await ended], [{ stopReason: 'cancelled' }, {}]);
    const answers = client.frames.flatMap(({ result }) => (result ? [result] : []));
    assert.deepEqual(answers.slice(-2), [{ stopReason: 'cancelled' }, {}]);
  });
}
