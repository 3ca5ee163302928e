/** What another server of this kind learned the hard way about replay, one test for each lesson. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { awaitTurn } from '../../src/core/conversation.ts';
import { LOCAL } from '../../src/core/principal.ts';
import type { Tool } from '../../src/core/tool.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { ask, selected, streaming } from '../contracts/agent/stage.ts';
import { Follower } from '../support/follower.ts';
import type { MemoryConnection } from '../support/memory-wire.ts';
import { note } from '../support/tools.ts';
import { type World, world } from '../support/world.ts';

const settled = () => new Promise(setImmediate);
const isQuestion = ({ method }: { method?: string }) => method === 'session/request_permission';

/** A connection whose frames a follower applies, attached where the follower is. */
async function follow(w: World, follower: Follower): Promise<MemoryConnection> {
  const connection = w.connect();
  connection.client.onFrame = (frame) => follower.apply(frame);
  await connection.client.initialize({ _meta: { pixir: { cursor: 1 } } });
  await follower.attach(connection.client);
  return connection;
}

test('[LES1] what waits in a connection is not also replayed: neither on it, nor on the next one', async () => {
  await using w = await world(streaming());
  const quick = await w.client();
  const sessionId = await quick.newSession(w.dir);
  const [stays, leaves] = [new Follower(sessionId), new Follower(sessionId)];
  const connections = [await follow(w, stays), await follow(w, leaves)];
  await settled();
  for (const connection of connections) connection.pause();
  const prompt = quick.prompt(sessionId, 'go');
  await quick.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
  // Of one the first words have arrived when it is cut, and the rest waits in a connection that is gone.
  connections[1]?.takeDownTo(0);
  await settled();
  w.provider.open('go');
  await prompt;
  connections[0]?.resume();
  connections[1]?.client.close();
  await follow(w, leaves);
  await settled();
  for (const { transcript } of [stays, leaves]) {
    const said = [...transcript.values()].filter(({ kind }) => kind === 'agent_message_chunk');
    assert.deepEqual(said, [{ kind: 'agent_message_chunk', text: 'Half a sentence.' }]);
  }
});

/** 4 MB in twenty messages. */
const long = () =>
  Array.from({ length: 20 }, (_, n) => ({ type: 'message' as const, text: `${n}:${'x'.repeat(200_000)};` }));

test('[LES2] the cursor is never ahead of what was sent, wherever a slow client is cut', async () => {
  await using w = await world({ script: [[...long(), finish()]] });
  const quick = await w.client();
  const sessionId = await quick.newSession(w.dir);
  await quick.prompt(sessionId, 'go');
  const follower = new Follower(sessionId);
  let cuts = 0;
  for (; follower.transcript.size < 21; cuts++) {
    const slow = w.connect();
    slow.client.onFrame = (frame) => follower.apply(frame);
    await slow.client.initialize({ _meta: { pixir: { cursor: 1 } } });
    slow.pause();
    const attached = follower.attach(slow.client);
    await settled();
    slow.takeDownTo(slow.waiting() / 2);
    await attached;
    await settled();
    slow.client.close();
  }
  assert.ok(cuts > 5);
  const said = [...follower.transcript.values()].filter(({ kind }) => kind === 'agent_message_chunk');
  assert.equal(said.map(({ text }) => text).join(''), quick.text());
});

test('[LES3] an answer is sent when everything before it has been, also to a slow client', async () => {
  await using w = await world({ script: [[...long(), finish()]] });
  const { client, ...wire } = w.connect();
  await client.initialize();
  const sessionId = await client.newSession(w.dir);
  wire.pause();
  const prompt = client.prompt(sessionId, 'go');
  await settled();
  await awaitTurn(w.runtime, LOCAL, sessionId);
  await settled();
  wire.resume();
  assert.deepEqual(await prompt, { stopReason: 'end_turn' });
  assert.deepEqual(client.frames.at(-1)?.result, { stopReason: 'end_turn' });
  assert.equal(
    client.text().length,
    long().reduce((sum, { text }) => sum + text.length, 0),
  );

  const loader = w.connect();
  await loader.client.initialize();
  loader.pause();
  const load = loader.client.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
  while (loader.waiting() < 1024 * 1024) await settled();
  loader.resume();
  const answer = await load;
  assert.equal(loader.client.frames.at(-2)?.result, answer, 'nothing but the commands follows it');
  assert.equal(loader.client.text(), client.text());
});

test('[LES4] a connection that ends detaches: neither its prompt, nor the tool that runs, is aborted', async () => {
  const running = Promise.withResolvers<AbortSignal>();
  const go = Promise.withResolvers<void>();
  const slowTool: Tool = {
    ...note,
    async run(_args, { signal }) {
      running.resolve(signal);
      await go.promise;
      return { ok: true, output: 'noted' };
    },
  };
  const script = [
    [call('c1', 'note', {}), finish()],
    [...say('Done.'), finish()],
  ];
  await using w = await world({ script, tools: [slowTool] });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  const prompt = client.prompt(sessionId, 'go');
  const signal = await running.promise;
  client.close();
  await assert.rejects(prompt);
  await settled();
  assert.equal(signal.aborted, false);
  go.resolve();
  await awaitTurn(w.runtime, LOCAL, sessionId);
  const end = (await w.events(sessionId)).at(-1);
  assert.equal(end?.type === 'turn_finished' && end.data.outcome, 'completed');
});

test('[LES5] a question that is put again is the same question: two answers to it are one decision', async () => {
  await using w = await world(ask);
  const first = await w.client();
  const sessionId = await first.newSession(w.dir);
  first.prompt(sessionId, 'go').catch(() => undefined);
  const { params } = await first.frame(isQuestion);
  first.close();
  const back = [await w.client(), await w.client()];
  const answers = [];
  for (const client of back) {
    await client.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
    const again = await client.frame(isQuestion);
    assert.deepEqual(again.params?._meta, params?._meta);
    answers.push({ client, answer: { jsonrpc: '2.0', id: again.id, result: selected('allow') } });
  }
  for (const { client, answer } of answers) client.raw(answer);
  await awaitTurn(w.runtime, LOCAL, sessionId);
  assert.equal(await readFile(join(w.dir, 'poked'), 'utf8'), 'x', 'it ran once');
  const types = await w.types(sessionId);
  const permissions = types.filter((type) => type.startsWith('permission_'));
  assert.deepEqual(permissions, ['permission_requested', 'permission_decision']);
});
