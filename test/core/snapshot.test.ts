import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBus } from '../../src/core/bus.ts';
import { attach, resume } from '../../src/core/conversation.ts';
import { CoreError } from '../../src/core/errors.ts';
import type { EventDraft, EventType } from '../../src/core/event.ts';
import { historyItems } from '../../src/core/history.ts';
import { start } from '../../src/core/lifecycle.ts';
import { chainCheck, type Log, type Snapshot } from '../../src/core/log.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { Session, type SessionPorts } from '../../src/core/session.ts';
import { takeSnapshot } from '../../src/core/snapshot.ts';
import { finish, say } from '../../src/providers/script.ts';
import { memoryLog } from '../../src/store/memory-log.ts';
import { created, draftOf, everyDraft, said } from '../store/support.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { sendText } from '../support/send.ts';
import { world } from '../support/world.ts';

const ID = 's';
const never = new AbortController().signal;

function portsOf(log: Log): SessionPorts {
  const onError = (error: unknown) => assert.fail(String(error));
  return { log, bus: createBus(onError), clock: fakeClock(), onError };
}

async function logOf(drafts: EventDraft[]) {
  const log = memoryLog(fakeClock());
  await log.append([created(ID), ...drafts]);
  return log;
}

/** The same Log; `reads` tells after which seq it was read. */
function watched(log: Log) {
  const reads: number[] = [];
  const read: Log['read'] = (id, after, limit) => {
    reads.push(after);
    return log.read(id, after, limit);
  };
  return { log: { ...log, read }, reads };
}

/** Everything a Session knows, as plain data. */
async function knowledgeOf(session: Session) {
  const { state, tail, phase } = session;
  const { openCalls, permissions, rules, prompts } = state;
  const maps = {
    openCalls: [...openCalls],
    permissions: [...permissions],
    rules: [...rules],
    prompts: [...prompts],
  };
  const history = await session.history(never);
  const told = { items: historyItems(history), callIds: [...history.callIds] };
  const { seq, chk } = tail;
  return JSON.parse(JSON.stringify({ ...state, ...maps, ...told, seq, chk, phase: phase.kind }));
}

/** A snapshot of the Session's first Events, as it is taken there. */
async function snapshotAt(drafts: EventDraft[], log: Log): Promise<Snapshot> {
  const { event, chk } = (await log.read(ID, drafts.length - 1, 1))[0] ?? assert.fail('no such Event');
  const { state } = await Session.open(portsOf(await logOf(drafts)), ID);
  return takeSnapshot({ state, seq: event.seq, chk });
}

/** Drawn anew for each Event, so that they come to concern one another. */
const NAME = fc.constantFrom('a', 'b');
const draftWith = (type: EventType, data: (name: string) => object) =>
  NAME.map((name) => ({ sessionId: ID, type, data: { turnId: 't', ...data(name) } }) as EventDraft);
const expiresAt = '2026-01-01T00:30:00.000Z';
const USAGE = { input: 10, cached: 4, output: 3, reasoning: 1 };
const anyDraft = fc.oneof(
  draftWith('session_configured', (model) => ({ mode: 'plan', model })),
  draftWith('session_titled', (title) => ({ title, by: 'client' })),
  draftWith('turn_started', (promptKey) => ({ promptKey, overrides: { model: 'm' } })),
  draftWith('user_message', (promptKey) => ({ messageId: 'm', promptKey, content: [{ type: 'text', text: 'x' }] })),
  draftWith('turn_continued', () => ({})),
  draftWith('reasoning', (id) => ({ messageId: 'm', model: 'm', dialect: 'd', item: { id }, summary: '' })),
  draftWith('assistant_message', (text) => ({ messageId: 'm', text })),
  draftWith('provider_usage', () => ({ model: 'm', iteration: 3, usage: null, contextWindow: null })),
  draftWith('provider_usage', () => ({ model: 'm', iteration: 3, usage: USAGE, contextWindow: 100 })),
  draftWith('tool_call', (callId) => ({ callId, name: 'read', args: { path: 'x' }, title: 'Read', kind: 'read' })),
  draftWith('permission_requested', (callId) => ({ permissionId: `p${callId}`, callId, argsHash: 'h', expiresAt })),
  draftWith('permission_decision', (callId) => ({ permissionId: `p${callId}`, callId, decision: 'deny' })),
  draftWith('permission_rule', (ruleId) => ({ ruleId, decision: 'allow', tool: 'read', keyHash: 'h', text: 'x' })),
  draftWith('permission_rule_revoked', (ruleId) => ({ ruleId })),
  draftWith('tool_result', (callId) => ({ callId, ok: true, output: 'x' })),
  draftWith('turn_started', (compact) => ({ compact })),
  draftWith('compaction_started', (compactionId) => ({ compactionId, trigger: 'command' })),
  draftWith('history_compacted', (summary) => ({ compactionId: 'c', summary, model: 'm', usage: null })),
  draftWith('compaction_failed', (compactionId) => ({ compactionId, error: { kind: 'network', message: 'x' } })),
  draftWith('plan', (content) => ({ entries: [{ content, priority: 'low', status: 'pending' }] })),
  draftWith('turn_finished', () => ({ outcome: 'completed', stopReason: 'end_turn' })),
);

test('[SNAP1] a Session opened from a snapshot is the same as one folded whole, wherever it was taken', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyDraft, { maxLength: 25 }), fc.nat(25), async (drafts, cut) => {
      const log = await logOf(drafts);
      const whole = await knowledgeOf(await Session.open(portsOf(log), ID));
      const before = drafts.slice(0, cut);
      await log.saveSnapshot(ID, await snapshotAt(before, log));
      const { log: looked, reads } = watched(log);
      const session = await Session.open(portsOf(looked), ID);
      assert.ok(Math.min(...reads) >= before.length - 1, 'nothing before the snapshot is read');
      assert.deepEqual(await knowledgeOf(session), whole);
    }),
  );
});

test('[SNAP1] a Session keeps a snapshot now and then, and a new process opens it from there', async () => {
  const turns = 120;
  await using w = await world({ script: Array.from({ length: turns + 1 }, () => [...say('Hello.'), finish()]) });
  const { id } = await start(w.runtime, LOCAL, { workspace: w.dir });
  const saved: number[] = [];
  const saveSnapshot = w.log.saveSnapshot;
  w.log.saveSnapshot = (sessionId, snapshot) => {
    saved.push(snapshot.seq);
    return saveSnapshot(sessionId, snapshot);
  };
  const watch = await attach(w.runtime, LOCAL, id, () => undefined);
  for (let n = 0; n < turns; n++) await (await sendText(w, id, `${n}`, { turnId: `t${n}`, promptKey: `k${n}` })).done;
  watch.stop();
  assert.equal(saved.length, 2, 'not with every Turn');
  const { log, reads } = watched(w.log);
  await using next = await w.restart({ log: log as typeof w.log });
  const { state, head } = await resume(next.runtime, LOCAL, id);
  assert.equal(state.prompts.size, turns);
  assert.ok(Math.min(...reads) >= (saved.at(-1) ?? 0) - 1);
  const again = await sendText(next, id, '0', { turnId: 'again', promptKey: 'k0' });
  assert.equal((await again.done).turnId, 't0', '[KEY1] no key is forgotten');
  assert.equal((await w.log.session(id))?.head.seq, head);
});

test('[SNAP1] a long Log without a snapshot is folded once and gets one', async () => {
  const log = await logOf(Array.from({ length: 1_100 }, (_, n) => said(ID, `${n}`)));
  await Session.open(portsOf(log), ID);
  await new Promise(setImmediate);
  assert.equal((await log.snapshot(ID))?.seq, 1_100);
  const { log: looked, reads } = watched(log);
  await Session.open(portsOf(looked), ID);
  assert.deepEqual(reads, [1_099, 1_100]);
});

test('[SNAP2] a snapshot that does not fit the Log is ignored', async () => {
  const drafts = everyDraft(ID).slice(1);
  const log = await logOf(drafts);
  const whole = await knowledgeOf(await Session.open(portsOf(log), ID));
  const fitting = await snapshotAt(drafts.slice(0, 5), log);
  const [entry] = await log.read(ID, 4, 1);
  const json = fitting.json.replace('"permissionMode":"read_only"', '"permissionMode":"auto"');
  assert.notEqual(json, fitting.json);
  const wrong: Snapshot[] = [
    { ...fitting, json },
    { ...fitting, json: 'garbage' },
    { ...fitting, chk: '' },
    { ...fitting, seq: fitting.seq + 1 },
    { ...fitting, seq: 1_000_000 },
    { ...fitting, json, chk: chainCheck(entry?.chk ?? '', 'state.0', json) },
    await snapshotAt(drafts.slice(0, 5), await logOf(drafts)),
  ];
  for (const snapshot of wrong) {
    await log.saveSnapshot(ID, snapshot);
    assert.deepEqual(await knowledgeOf(await Session.open(portsOf(log), ID)), whole);
  }
});

test('[SNAP2] what a snapshot says is pinned: another fold is another version of it', async () => {
  const turn = everyDraft(ID).slice(1);
  const endings = ['tool_result', 'permission_decision', 'permission_rule_revoked', 'turn_finished'];
  endings.push('history_compacted', 'compaction_failed');
  const open = turn.filter(({ type }) => !endings.includes(type));
  const next = JSON.parse(JSON.stringify(open).replaceAll('key-1', 'key-2'));
  const { state } = await Session.open(portsOf(await logOf([...turn, ...next])), ID);
  const { json, chk } = takeSnapshot({ state, seq: 0, chk: '' });
  assert.deepEqual([state.openCalls.size, state.permissions.size, state.rules.size, state.prompts.size], [1, 1, 1, 2]);
  assert.equal(chk, chainCheck('', 'state.5', json));
  assert.equal(hash('sha256', json, 'hex').slice(0, 16), 'b3850c41451af26b');
});

test('[SNAP3] History is read when a Turn needs it', async () => {
  await using w = await world({ script: [[...say('One.'), finish()]] });
  const { id } = await start(w.runtime, LOCAL, { workspace: w.dir });
  await (await sendText(w, id, 'one')).done;
  const { state, tail } = await resume(w.runtime, LOCAL, id);
  await w.log.saveSnapshot(id, takeSnapshot({ state, ...tail }));
  const { log, reads } = watched(w.log);
  await using next = await w.restart({ log: log as typeof w.log, script: [[...say('Two.'), finish()]] });
  await resume(next.runtime, LOCAL, id);
  assert.ok(!reads.includes(-1), 'not before');
  await (await sendText(next, id, 'two', { turnId: 't2' })).done;
  assert.ok(reads.includes(-1));
  assert.deepEqual(
    next.provider.requests[0]?.history.map(({ type }) => type),
    ['user', 'assistant', 'user'],
  );
});

/** A long Session, opened from its snapshot. What it reads from now on, `read` sees first. */
async function longSession(length: number) {
  const log = await logOf(Array.from({ length }, (_, n) => said(ID, `${n}`)));
  await Session.open(portsOf(log), ID);
  await new Promise(setImmediate);
  assert.ok(await log.snapshot(ID));
  const ports = portsOf({ ...log });
  return { log, ports, session: await Session.open(ports, ID) };
}

test('[SNAP3] what is committed while History is read is neither missed nor repeated', async () => {
  const { log, ports, session } = await longSession(2_100);
  const expected = Array.from({ length: 2_100 }, (_, n) => `${n}`);
  const sayMore = async () => {
    if (expected.length >= 2_120) return;
    expected.push(`${expected.length}`);
    await session.record([said(ID, `${expected.length - 1}`)]);
  };
  ports.log.read = async (...range) => {
    await sayMore();
    const entries = await log.read(...range);
    await sayMore();
    return entries;
  };
  const texts = async () =>
    historyItems(await session.history(never)).map((item) => (item.type === 'assistant' ? item.text : item.type));
  assert.deepEqual(await texts(), expected);
  assert.ok(expected.length > 2_100);
  expected.push('and one more');
  await session.record([said(ID, 'and one more')]);
  assert.deepEqual(await texts(), expected);
});

test('[SNAP3] nor is what is committed in the very moment in which the last of History has been read', async () => {
  for (let pause = 0; pause < 12; pause++) {
    const { log, ports, session } = await longSession(300);
    const recording = Promise.withResolvers<unknown>();
    ports.log.read = async (...range) => {
      const entries = await log.read(...range);
      // Committed together: the answers to both are on their way at once.
      const saved = log.saveDraft(ID, draftOf(''));
      recording.resolve(session.record([said(ID, 'late')]));
      await saved;
      for (let n = 0; n < pause; n++) await undefined;
      return entries;
    };
    const [history] = await Promise.all([session.history(never), recording.promise]);
    assert.equal(historyItems(history).length, 301, `${pause}`);
  }
});

test('[SNAP3] a Turn that is stopped does not go on reading History', async () => {
  const { log, ports, session } = await longSession(2_100);
  const { log: looked, reads } = watched(log);
  const stop = new AbortController();
  ports.log.read = async (...range) => {
    const entries = await looked.read(...range);
    stop.abort(new Error('stopped'));
    return entries;
  };
  await assert.rejects(session.history(stop.signal), /stopped/);
  assert.deepEqual(reads, [-1]);
  assert.equal(historyItems(await session.history(never)).length, 2_100);
});

test('[FULL3] a Session does not go on after a Log that has lost what it had recorded', async () => {
  const { log, ports, session } = await longSession(300);
  log.failNext(new CoreError('log_write_failed', 'the disk is full'));
  await assert.rejects(session.record([said(ID, 'x')]));
  ports.log.read = async () => [];
  await assert.rejects(session.recover(), /lost what it had recorded/);
  ports.log.read = log.read;
  await session.recover();
  const [entry] = await session.record([said(ID, 'x')]);
  assert.equal(entry?.event.seq, 301);
});

test('[FULL3] what is committed while a Session reads its Log again is published once', async () => {
  const { log, ports, session } = await longSession(300);
  ports.log.read = async (id, after, limit) => {
    if (after === 300) await new Promise(setImmediate);
    return log.read(id, after, limit);
  };
  log.failNext(new CoreError('log_write_failed', 'the disk is full'));
  const saved = log.saveDraft(ID, draftOf(''));
  const recovered = session.record([said(ID, 'x')]).catch(() => session.recover());
  await saved;
  // The failure is on its way and not heard yet, so this is written meanwhile.
  const [[entry]] = await Promise.all([session.record([said(ID, 'y')]), recovered]);
  assert.deepEqual([entry?.event.seq, session.head], [301, 301]);
  assert.deepEqual(await session.read(300, 10), [entry]);
});
