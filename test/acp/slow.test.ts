/** A slow reader over a real WebSocket: the kernel buffers megabytes before the server has to. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Transport } from '../../src/acp/transport.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { finish, say } from '../../src/providers/script.ts';
import { createApp } from '../../src/server/app.ts';
import { APP_LIMITS } from '../support/app-limits.ts';
import { world } from '../support/world.ts';
import { connectWebSocket } from '../support/ws-wire.ts';

const token = 'a-token-for-tests';
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const KIB = 1024;
const UPDATES = 10_000;

test(`[FEED4] ${UPDATES} updates of 1 KiB to a client that does not read: under 2 MiB wait for it, nobody else does, and nothing is lost`, async () => {
  const messages = Array.from({ length: UPDATES }, (_, n) => ({
    type: 'message' as const,
    text: `${n} `.padEnd(KIB, 'x'),
  }));
  await using stack = new AsyncDisposableStack();
  const w = stack.use(
    await world({
      script: [
        [...messages, finish()],
        [...say('And on.'), finish()],
      ],
    }),
  );
  const transports: Transport[] = [];
  const app = await createApp({
    limits: APP_LIMITS,
    openPeer(transport, principal) {
      transports.push(transport);
      return w.openPeer(transport, principal);
    },
    authenticate: (candidate) => (candidate === token ? { principal: LOCAL } : undefined),
    readiness: () => true,
    logger: silent,
  });
  stack.defer(() => app.close());
  const url = await app.listen({ port: 0 });
  const [quick, slow] = [await connectWebSocket({ url, token }), await connectWebSocket({ url, token })];
  stack.defer(() => {
    for (const { socket } of [quick, slow]) socket.terminate();
  });

  await quick.client.initialize();
  const sessionId = await quick.client.newSession(w.dir);
  await slow.client.initialize();
  await slow.client.request('session/resume', { sessionId, cwd: w.dir });
  slow.socket.pause();
  let most = 0;
  quick.client.onUpdate = () => {
    most = Math.max(most, transports[1]?.bufferedAmount ?? 0);
  };
  await quick.client.prompt(sessionId, 'go');
  assert.equal(quick.client.updates().length, UPDATES, 'the other client has everything, and its answer');
  assert.ok(most > 1024 * KIB, `it was being sent to: ${most}`);
  assert.ok(most < 2 * 1024 * KIB, `${most} bytes waited for it`);

  await quick.client.prompt(sessionId, 'and?');
  // Both get the same frames: checking them once is enough, and half of the time.
  const caughtUp = Promise.withResolvers<void>();
  let text = '';
  slow.socket.removeAllListeners('message').on('message', (data) => {
    const { update } = JSON.parse(String(data)).params;
    if (update.sessionUpdate === 'agent_message_chunk') text += update.content.text;
    if (update.content?.text.endsWith('on.')) caughtUp.resolve();
  });
  slow.socket.resume();
  await caughtUp.promise;
  assert.equal(text, quick.client.text());
  for (const { client } of [quick, slow]) client.assertSound();
});
