import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finish, say } from '../../src/providers/script.ts';
import { streaming } from '../contracts/agent/stage.ts';
import { RpcError } from '../support/wire-client.ts';
import { world } from '../support/world.ts';
import { comesBack, editorOf } from './bridge-support.ts';

const isClosed = ({ method }: { method?: string }) => method === '_pixir/session/closed';
const unknown = (error: unknown) => error instanceof RpcError && error.code === -32002;
const hello = [...say('Hello.'), finish()];
const later = async (work: () => Promise<unknown>) => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  return work();
};

test('[LIFE14] a Session that somebody deletes: the prompt is cancelled and the editor is told', async () => {
  await using w = await world(streaming());
  const { client, net } = editorOf(w, { slowly: true });
  await client.initialize();
  const sessionId = await client.newSession(w.dir);
  const prompt = client.prompt(sessionId, 'go');
  await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
  await (await w.client()).request('session/delete', { sessionId });
  assert.deepEqual(await prompt, { stopReason: 'cancelled' });
  assert.deepEqual((await client.frame(isClosed)).params, { sessionId, reason: 'deleted' });
  net.cut();
  await comesBack(w, { net });
  await assert.rejects(client.prompt(sessionId, 'still there?'), unknown);
  await client.newSession(w.dir);
  client.assertSound();
});

test('[LIFE14] deleted while the editor was away: its prompt and its load are answered', async () => {
  await using w = await world({ script: [hello] });
  const { client, net } = editorOf(w, { slowly: true });
  await client.initialize();
  const sessionId = await client.newSession(w.dir);
  await client.prompt(sessionId, 'hi');
  net.cut();
  const load = client.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
  await (await w.client()).request('session/delete', { sessionId });
  await comesBack(w, { net });
  await assert.rejects(load, unknown);
  await assert.rejects(client.prompt(sessionId, 'still there?'), unknown);
  client.assertSound();
});

test('[LIFE14] deleted in the middle of a load, the load is answered, whether it is cut or only slow', async () => {
  /** Opened already, so the bridge takes the load up by resume and attach. */
  const loaded = async (at: number, slow: boolean) => {
    await using w = await world({ script: [hello, hello] });
    const { client, net } = editorOf(w);
    await client.initialize();
    const sessionId = await client.newSession(w.dir);
    for (const text of ['one', 'two']) await client.prompt(sessionId, text);
    const other = await w.client();
    let deleted: Promise<unknown> | undefined;
    let frames = 0;
    net.tap = (where, frame) => {
      if (where === 'in' && ++frames === at) {
        net.cut();
        deleted = other.request('session/delete', { sessionId });
        return false;
      }
      if (slow && where === 'out' && frame.includes('_pixir/session/attach')) {
        // Two frames are more than may wait, so the rest stays in the Log until that is gone.
        net.weight = 4_096;
        net.pause();
        deleted = later(() => other.request('session/delete', { sessionId })).finally(() => net.resume());
      }
      return true;
    };
    const answer = await client.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] }).catch(unknown);
    assert.ok(answer, `at ${at}`);
    await deleted;
    client.assertSound();
    return frames;
  };
  const frames = await loaded(0, false);
  assert.ok(frames > 5);
  for (let at = 1; at <= frames; at++) await loaded(at, false);
  await loaded(0, true);
});

test('[LIFE14] list, fork, title, close and delete go through, and the commands are told once', async () => {
  await using w = await world({ script: [hello, hello, hello] });
  const { client, net } = editorOf(w, { slowly: true });
  await client.initialize();
  const sessionId = await client.newSession(w.dir);
  await client.prompt(sessionId, 'one');
  const fork = String((await client.request('session/fork', { sessionId, cwd: w.dir })).sessionId);
  net.cut();
  await comesBack(w, { net });
  await client.prompt(fork, 'two');
  await client.request('session/set_title', { sessionId: fork, title: 'Mine' });
  const listed = async () => {
    const { sessions } = await client.request('session/list', {});
    return (sessions as { title: string }[]).map(({ title }) => title).sort();
  };
  assert.deepEqual(await listed(), ['Mine', 'one']);
  for (const id of [sessionId, fork]) {
    const offers = client.allUpdates(id).filter(({ sessionUpdate }) => sessionUpdate === 'available_commands_update');
    assert.equal(offers.length, 1);
  }
  assert.deepEqual(await client.request('session/close', { sessionId }), {});
  assert.deepEqual(await client.request('session/delete', { sessionId }), {});
  assert.deepEqual(await client.request('session/delete', { sessionId: fork }), {});
  assert.deepEqual(await listed(), []);
  client.assertSound();
});

test('[BRIDGE13] an editor may take its time: no server waits for what it has not said yet', async () => {
  await using w = await world({ limits: { initializeTimeoutMs: 10_000 } });
  const { net, client, refused } = editorOf(w);
  for (let second = 0; second < 60; second++) {
    w.clock.advance(1_000);
    await new Promise(setImmediate);
  }
  assert.equal(net.connections, 0);
  await client.initialize();
  assert.deepEqual([net.connections, refused], [1, []]);
});
