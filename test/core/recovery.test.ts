import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Signal } from '../../src/core/bus.ts';
import { answer, attach, awaitTurn, type Prompt, stopAll } from '../../src/core/conversation.ts';
import type { Event, EventType } from '../../src/core/event.ts';
import { start } from '../../src/core/lifecycle.ts';
import { LOCAL } from '../../src/core/principal.ts';
import type { Session } from '../../src/core/session.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { memoryLog } from '../../src/store/memory-log.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { sendText } from '../support/send.ts';
import { type World, type WorldOptions, world } from '../support/world.ts';

const resume: WorldOptions = { settings: { recovery: 'resume' } };
const asking: WorldOptions = { settings: { recovery: 'resume', permissionCeiling: 'ask' } };
const half = [{ type: 'delta' as const, kind: 'message' as const, text: 'Half a sen' }, { type: 'hang' as const }];
const rest = [...say('The rest of it.'), finish()];
const poke = [call('c1', 'poke', { text: 'x' }), finish()];

/** A Session whose Turn has come to a point, and which then is as good as dead. */
async function strand(w: World, until: (signal: Signal, session: Session) => boolean, extra: Partial<Prompt> = {}) {
  const { id } = await start(w.runtime, LOCAL, { workspace: w.dir });
  const reached = Promise.withResolvers<void>();
  const watch = await attach(w.runtime, LOCAL, id, (signal) => until(signal, watch.session) && reached.resolve());
  await sendText(w, id, 'go', extra);
  await reached.promise;
  watch.stop();
  return id;
}

const onDelta = ({ type }: Signal) => type === 'delta';
const onOutput = ({ type }: Signal) => type === 'tool_output';
const onAsk = (_signal: Signal, { state }: Session) => state.permissions.size > 0;

const find = <T extends EventType>(events: Event[], type: T) =>
  events.filter((event) => event.type === type) as unknown as Event<T>[];

async function endOf(w: World, id: string) {
  await awaitTurn(w.runtime, LOCAL, id);
  const ends = find(await w.events(id), 'turn_finished');
  assert.equal(ends.length, 1, 'exactly one end');
  return ends[0]?.data;
}

test('[REC3] a Turn cut in mid-sentence goes on by itself, once, and the model is told where it was', async () => {
  await using w = await world({ ...resume, script: [half] });
  const id = await strand(w, onDelta);
  await w.log.saveDraft(id, { turnId: 't1', messageId: 'msg_1', kind: 'message', text: 'Half a' });
  await using next = await w.restart({ ...resume, script: [rest] });
  assert.equal((await endOf(next, id))?.outcome, 'completed');
  const messages = find(await next.events(id), 'assistant_message').map(({ data }) => [data.text, data.partial]);
  assert.deepEqual(messages, [
    ['Half a', 'interrupted'],
    ['The rest of it.', undefined],
  ]);
  const [asked, note] = next.provider.requests[0]?.history ?? [];
  assert.deepEqual(asked, { type: 'user', content: [{ type: 'text', text: 'go' }] });
  assert.match(JSON.stringify(note), /restarted.*Half a/);
});

test('[REC4] a permission that waited is asked again under its name, and what is allowed runs once', async () => {
  await using w = await world({ ...asking, script: [poke] });
  const id = await strand(w, onAsk);
  await using next = await w.restart({ ...asking, script: [rest] });
  const [asked] = find(await next.events(id), 'permission_requested');
  const { permissionId = '' } = asked?.data ?? {};
  assert.ok(!existsSync(join(w.dir, 'poked')), 'nothing was assumed');
  const client = await next.client();
  await client.request('session/load', { sessionId: id, cwd: w.dir, mcpServers: [] });
  const request = await client.frame(({ method }) => method === 'session/request_permission');
  assert.deepEqual(request.params?._meta, { pixir: { permissionId, expiresAt: asked?.data.expiresAt } });
  client.raw({ jsonrpc: '2.0', id: request.id, result: { outcome: { outcome: 'selected', optionId: 'allow' } } });
  assert.equal((await endOf(next, id))?.outcome, 'completed');
  assert.equal(await readFile(join(w.dir, 'poked'), 'utf8'), 'x');
  assert.equal(find(await next.events(id), 'permission_requested').length, 1);
});

test('[REC4] a permission that is answered in the moment in which its Session comes back is not lost', async () => {
  await using w = await world({ ...asking, script: [poke] });
  const id = await strand(w, onAsk);
  const [asked] = find(await w.events(id), 'permission_requested');
  const permissionId = asked?.data.permissionId ?? '';
  await using next = await w.restart({ ...asking, script: [rest] });
  assert.equal(await answer(next.runtime, LOCAL, id, { permissionId, decision: 'allow' }), true);
  assert.equal((await endOf(next, id))?.outcome, 'completed');
  assert.equal(await readFile(join(w.dir, 'poked'), 'utf8'), 'x');
});

test('[REC5] the deadline of a permission goes on while the server is down', async () => {
  await using w = await world({ ...asking, script: [poke] });
  const id = await strand(w, onAsk);
  w.clock.advance(59_000);
  await using next = await w.restart({ ...asking, script: [rest] });
  w.clock.advance(1_000);
  assert.equal((await endOf(next, id))?.outcome, 'completed');
  const [decision] = find(await next.events(id), 'permission_decision');
  assert.deepEqual([decision?.data.decision, decision?.data.by], ['deny', 'timeout']);
  assert.ok(!existsSync(join(w.dir, 'poked')));
});

test('[REC6] a permission decided for other arguments than the recorded ones is none', async () => {
  await using w = await world({ ...asking, script: [poke] });
  const id = await strand(w, onAsk);
  const tampered = (await w.log.read(id, -1, 100)).map(({ event }) => event);
  const forged = await w.restart({ ...asking, script: [rest], log: forging(w, tampered) });
  const [asked] = find(tampered, 'permission_requested');
  await answer(forged.runtime, LOCAL, id, { permissionId: asked?.data.permissionId ?? '', decision: 'allow' });
  await awaitTurn(forged.runtime, LOCAL, id);
  assert.ok(!existsSync(join(w.dir, 'poked')));
  await forged[Symbol.asyncDispose]();
});

/** The same Log, but the call in it has other arguments than those that were asked about. */
function forging(w: World, events: Event[]): World['log'] {
  for (const event of events) if (event.type === 'tool_call') event.data.args = { text: 'evil' };
  const log: World['log'] = Object.create(w.log);
  log.read = async (id, after, limit) => {
    const entries = await w.log.read(id, after, limit);
    return entries.map((entry) => ({ ...entry, event: events[entry.event.seq] ?? entry.event }));
  };
  return log;
}

test('[REC7] a call that ran when the server died is not run again; its outcome is unknown and the model is told', async () => {
  await using w = await world({ ...resume, script: [[call('c1', 'hang', {}), finish()]] });
  const id = await strand(w, onOutput);
  await using next = await w.restart({ ...resume, script: [rest] });
  assert.equal((await endOf(next, id))?.outcome, 'completed');
  assert.equal(find(await next.events(id), 'tool_call').length, 1);
  const result = next.provider.requests[0]?.history.find((item) => item.type === 'tool_result');
  assert.match(JSON.stringify(result), /outcome_unknown/);
});

test('[REC8] a Turn that is cut a second time ends as interrupted', async () => {
  await using w = await world({ ...resume, script: [half] });
  const id = await strand(w, onDelta);
  await using second = await w.restart({ ...resume, script: [half] });
  const again = Promise.withResolvers<void>();
  const watch = await attach(second.runtime, LOCAL, id, (signal) => signal.type === 'delta' && again.resolve());
  if (watch.session.live) again.resolve();
  await again.promise;
  await using third = await w.restart({ ...resume, script: [rest] });
  assert.equal((await endOf(third, id))?.outcome, 'interrupted');
  assert.equal(third.provider.requests.length, 0);
  watch.stop();
});

test('[REC9] what a prompt set for its Turn holds for the continued Turn: it is not looser than it was', async () => {
  await using w = await world({ ...resume, script: [half] });
  const id = await strand(w, onDelta, { permissionMode: 'read_only', model: 'm2' });
  await using next = await w.restart({ ...resume, script: [poke, rest] });
  assert.equal((await endOf(next, id))?.outcome, 'completed');
  assert.ok(!existsSync(join(w.dir, 'poked')));
  assert.equal(next.provider.requests[0]?.model, 'm2');
});

test('[REC10] an orderly stop may leave Turns open, with all of their text, for the next process', async () => {
  await using w = await world({ ...resume, script: [half] });
  const id = await strand(w, onDelta);
  await stopAll(w.runtime, 'suspend');
  assert.equal((await w.log.draft(id))?.text, 'Half a sen');
  assert.equal(find(await w.events(id), 'turn_finished').length, 0);
  await using next = await w.restart({ ...resume, script: [rest] });
  assert.equal((await endOf(next, id))?.outcome, 'completed');
  assert.equal(find(await next.events(id), 'assistant_message')[0]?.data.text, 'Half a sen');
});

test('[DRAFT1] a draft that is due while its message is being committed does not come after it', async () => {
  const inner = memoryLog(fakeClock());
  const log = {
    ...inner,
    append(drafts: Parameters<typeof inner.append>[0]) {
      const done = inner.append(drafts);
      if (drafts.some(({ type }) => type === 'assistant_message')) w.clock.advance(300);
      return done;
    },
  };
  const script = [
    [...say('So it is.'), { type: 'wait' as const, gate: 'g' }, finish()],
    [...say('Next.'), finish()],
  ];
  await using w = await world({ script, log, settings: { recovery: 'resume' } });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  const prompt = client.prompt(sessionId, 'go');
  prompt.catch(() => undefined);
  while (!(await w.types(sessionId)).includes('assistant_message')) await new Promise(setImmediate);
  await new Promise(setImmediate);
  await using next = await w.restart({ script: [[...say('Next.'), finish()]] });
  while (!(await next.types(sessionId)).includes('turn_finished')) await new Promise(setImmediate);
  const texts = (await next.events(sessionId)).flatMap((event) =>
    event.type === 'assistant_message' ? [event.data.text] : [],
  );
  assert.deepEqual(texts, ['So it is.', 'Next.']);
});
