/** One conversation over every transport: whatever carries the frames, they are the same. */
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { OpenPeer } from '../../src/acp/transport.ts';
import { serveStdio } from '../../src/cli/stdio.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { call, finish, say, think } from '../../src/providers/script.ts';
import { createApp } from '../../src/server/app.ts';
import { APP_LIMITS } from '../support/app-limits.ts';
import { connectHttp } from '../support/http-wire.ts';
import { WireClient } from '../support/wire-client.ts';
import { world } from '../support/world.ts';
import { connectWebSocket } from '../support/ws-wire.ts';

type Connect = (openPeer: OpenPeer, defer: (end: () => unknown) => void) => Promise<WireClient>;

const token = 'a-token-for-tests';

const overStdio: Connect = async (openPeer, defer) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const done = serveStdio({ input, output, openPeer, principal: LOCAL });
  const close = () => {
    output.destroy();
    input.destroy();
  };
  const client = new WireClient().open({ send: (text) => input.write(`${text}\n`), close });
  createInterface({ input: output }).on('line', client.receive);
  defer(() => {
    close();
    return done;
  });
  return client;
};

async function listen(openPeer: OpenPeer, defer: (end: () => unknown) => void): Promise<string> {
  const app = await createApp({
    limits: APP_LIMITS,
    openPeer,
    authenticate: (candidate) => (candidate === token ? { principal: LOCAL } : undefined),
    readiness: () => true,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  defer(() => app.close());
  return app.listen({ port: 0 });
}

const overWebSocket: Connect = async (openPeer, defer) => {
  const { client, socket } = await connectWebSocket({ url: await listen(openPeer, defer), token });
  defer(() => socket.terminate());
  return client;
};

const overHttp: Connect = async (openPeer, defer) => {
  const { client, close } = connectHttp({ url: await listen(openPeer, defer), token });
  defer(close);
  return client;
};

const script = [
  [...think('Hm.'), ...say('Let me poke it.'), call('c1', 'poke', { text: 'x' }), finish()],
  [...say('Done, thank you.'), finish()],
  [{ type: 'delta' as const, kind: 'message' as const, text: 'Half a ' }, { type: 'hang' as const }],
  [...say('More.'), finish()],
];

/** A conversation with everything that makes frames, one thing after the other. */
async function converse(connect: Connect, capabilities: unknown): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const w = stack.use(await world({ script, settings: { permissionCeiling: 'ask' } }));
  const client = await connect(w.openPeer, (end) => stack.defer(async () => void (await end())));
  client.onPermission = () => ({ outcome: { outcome: 'selected', optionId: 'allow' } });
  const failing = (method: string, params: unknown) => assert.rejects(client.request(method, params));

  await client.initialize(capabilities);
  await failing('initialize', { protocolVersion: 1 });
  const sessionId = await client.newSession(w.dir);
  const again = { sessionId, cwd: w.dir, mcpServers: [] };
  await client.prompt(sessionId, 'Poke it.', { pixir: { promptKey: 'k1' } });
  await client.request('session/set_mode', { sessionId, modeId: 'plan' });
  const cancelled = client.prompt(sessionId, 'Go on');
  await client.update(({ content }) => (content as { text?: string } | undefined)?.text === 'Half a ');
  client.notify('session/cancel', { sessionId });
  await cancelled;
  await client.request('session/load', again);
  await client.request('session/resume', again);
  const another = await client.newSession(w.dir);
  await client.prompt(another, 'And here?');
  await failing('session/load', { ...again, sessionId: 'nobody' });
  await failing('session/prompt', { sessionId, prompt: [] });
  await failing('session/prompt', {});
  await failing('_vendor/x', { sessionId });
  client.raw('{broken');
  await client.frame(({ error }) => error?.code === -32700);
  await client.request('_pixir/session/attach', { sessionId });
  await client.frame(({ method }) => method === '_pixir/session/caught_up');
  await client.request('_pixir/session/detach', { sessionId });
  await client.request('logout');
  client.assertSound();
  return normalised(client.frames, w.dir);
}

/** Without what is new each time: ids by the order in which they appear, cursors without their check values. */
function normalised(frames: unknown[], dir: string): string {
  const names = new Map<string, string>();
  return frames
    .map((frame) => JSON.stringify(frame))
    .join('\n')
    .replaceAll(dir, '/workspace')
    .replaceAll(/p1\.[0-9a-f]+\.(\d+)\.[0-9a-f]{12}/g, 'p1.$1')
    .replaceAll(/\b(?:\d{8}T\d{6}-|[a-z]+_)[0-9a-f]{16}\b/g, (id) => {
      const name = names.get(id) ?? `<${names.size}>`;
      names.set(id, name);
      return name;
    });
}

for (const [client, capabilities] of [
  ['a plain client', {}],
  ['a client with cursors', { _meta: { pixir: { cursor: 1 } } }],
] as const) {
  test(`[DIFF1] ${client} is sent the same frames in the same order over stdio, WebSocket and HTTP`, async () => {
    const expected = await converse(overStdio, capabilities);
    assert.ok(expected.split('\n').length > 50, expected);
    for (const connect of [overWebSocket, overHttp])
      assert.deepEqual((await converse(connect, capabilities)).split('\n'), expected.split('\n'));
  });
}
