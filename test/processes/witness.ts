/**
 * What a client was shown while its server was killed again and again, and whether the Log has it. It looks at the frames
 * themselves, so that it does not depend on the client that it bears witness to.
 */
import assert from 'node:assert/strict';
import type { UpdateParams } from '../../src/acp/wire.ts';
import type { Session } from '../../src/client/session.ts';
import type { Event, EventType } from '../../src/core/event.ts';

/** The text of a message as it arrived. */
interface Shown {
  text: string;
  /** How long it was when, on this connection. */
  marks: { at: number; length: number }[];
}

export interface Kill {
  at: number;
  /** How late the machine has been with what it had to do in time. */
  lateMs: number;
}

export interface Witness {
  texts: Map<string, Shown>;
  /** What was on its way at a kill. */
  cuts: (Kill & { messageId: string } & Shown)[];
  calls: Set<string>;
  results: Set<string>;
  /** How often each permission was asked. */
  asked: Map<string, number>;
  /** The permissions that a kill found waiting for this client. */
  waiting: Set<string>;
  /** The stop reason of each prompt, by its text. */
  answers: Map<string, string>;
}

export function createWitness(): Witness {
  return {
    texts: new Map(),
    cuts: [],
    calls: new Set(),
    results: new Set(),
    asked: new Map(),
    waiting: new Set(),
    answers: new Map(),
  };
}

/** Sees a frame, before the client does. */
export function see(witness: Witness, frame: string): void {
  const { method, params } = JSON.parse(frame) as { method?: string; params: unknown };
  if (method === 'session/update') seeUpdate(witness, params as UpdateParams);
  if (method !== 'session/request_permission') return;
  const { permissionId } = (params as { _meta: { pixir: { permissionId: string } } })._meta.pixir;
  witness.asked.set(permissionId, (witness.asked.get(permissionId) ?? 0) + 1);
}

function seeUpdate({ texts, calls, results }: Witness, { update, _meta }: UpdateParams): void {
  const { sessionUpdate } = update;
  if (sessionUpdate === 'agent_message_chunk' || sessionUpdate === 'agent_thought_chunk') {
    const { messageId, content } = update;
    if (!messageId || content.type !== 'text') return;
    const shown = texts.get(messageId) ?? { text: '', marks: [] };
    shown.text = _meta?.pixir.replace ? content.text : shown.text + content.text;
    shown.marks.push({ at: performance.now(), length: shown.text.length });
    texts.set(messageId, shown);
  }
  if (sessionUpdate === 'tool_call') calls.add(update.toolCallId);
  if (sessionUpdate === 'tool_call_update' && update.status !== 'in_progress') results.add(update.toolCallId);
}

/** The connection has ended, after everything that it brought: what was on its way when the server was killed? */
export function seeEnd(witness: Witness, waiting: Iterable<string>, kill: Kill): void {
  for (const permissionId of waiting) witness.waiting.add(permissionId);
  for (const [messageId, shown] of witness.texts) {
    if (shown.marks.length > 0) witness.cuts.push({ ...kill, messageId, ...shown });
    shown.marks = [];
  }
}

/** What the kills came to in one Session. */
export interface Toll {
  turns: number;
  /** Turns that were cut and went on. */
  continued: number;
  /** Messages that were cut. */
  partial: number;
  /** Permissions that waited at a kill and were asked again. */
  askedAgain: number;
  /** For how long the oldest text had been shown that a kill took away, less what the machine was late. */
  oldestLossMs: number;
}

/** Checks one Session's Log against everything that was shown of it. */
export function check(events: readonly Event[], witness: Witness, session: Session): Toll {
  const log: SessionLog = {
    events,
    of: (type) => events.filter((event) => event.type === type) as Event<typeof type>[],
  };
  assertCalls(log, witness);
  assertTurns(log, witness);
  assertTranscript(log, session);
  return {
    turns: log.of('turn_finished').length,
    continued: log.of('turn_continued').length,
    partial: log.of('assistant_message').filter(({ data }) => data.partial).length,
    askedAgain: askedAgain(log, witness),
    oldestLossMs: Math.max(0, ...losses(log, witness)),
  };
}

interface SessionLog {
  events: readonly Event[];
  of<T extends EventType>(type: T): Event<T>[];
}

function assertCalls(log: SessionLog, { calls, results }: Witness): void {
  const ids = (type: 'tool_call' | 'tool_result') => log.of(type).map(({ data }) => data.callId);
  assert.deepEqual(calls.difference(new Set(ids('tool_call'))), new Set(), 'a call that was shown is gone');
  assert.deepEqual(results.difference(new Set(ids('tool_result'))), new Set(), 'a result that was shown is gone');
  assert.deepEqual(ids('tool_result'), ids('tool_call'), 'a call has not exactly one result');
}

/** One prompt, one Turn, one end, and that is what the client was told. */
function assertTurns(log: SessionLog, { answers }: Witness): void {
  const prompts = log.of('user_message').map(({ data }) => data);
  const ends = log.of('turn_finished').map(({ data }) => data);
  const told = prompts.map(({ turnId, content: [block] }) => {
    const mine = ends.filter((end) => end.turnId === turnId);
    assert.equal(mine.length, 1, `${turnId} ended ${mine.length} times`);
    return [block?.type === 'text' && block.text, mine[0]?.stopReason];
  });
  assert.deepEqual(told, [...answers]);
  assert.equal(new Set(prompts.map(({ promptKey }) => promptKey)).size, prompts.length);
  assert.equal(log.of('turn_started').length, ends.length);
}

/** What the client shows in the end is what the Log has, once and in its order. */
function assertTranscript(log: SessionLog, { transcript }: Session): void {
  const recorded = messages(log);
  assert.equal(new Map(recorded).size, recorded.length, 'a message was recorded twice');
  const shown = transcript.items.flatMap((item) => ('text' in item ? [[item.id, item.text]] : []));
  assert.deepEqual(shown, recorded);
}

/** Every text of the Log that a client is shown, with the id of its message. */
function messages({ events }: SessionLog): [string, string][] {
  const texts = events.map(({ id, type, data }): [string, string] => {
    if (type === 'assistant_message') return [data.messageId, data.text];
    if (type === 'reasoning') return [data.messageId, data.summary];
    return [`end_${id}`, (type === 'turn_finished' && data.error?.message) || ''];
  });
  return texts.filter(([, text]) => text !== '');
}

/** For how long each text had been shown that a kill took away, less what the machine was late. */
function losses(log: SessionLog, { cuts }: Witness): number[] {
  const kept = new Map(messages(log));
  return cuts.flatMap(({ at, lateMs, messageId, text, marks }) => {
    const left = kept.get(messageId) ?? '';
    assert.ok(left.startsWith(text) || text.startsWith(left), `${messageId} is not what was shown`);
    const lost = marks.find(({ length }) => length > left.length);
    return lost ? [at - lost.at - lateMs] : [];
  });
}

/** Counts the permissions that waited at a kill and were asked again. The others ended with a Turn that was cut twice. */
function askedAgain(log: SessionLog, { asked, waiting }: Witness): number {
  const decided = log.of('permission_decision').map(({ data }) => data);
  const decisions = new Map(decided.map((decision) => [decision.permissionId, decision]));
  assert.equal(decisions.size, decided.length, 'a permission was decided twice');
  const continued = new Set(log.of('turn_continued').map(({ data }) => data.turnId));
  let again = 0;
  for (const permissionId of waiting) {
    const decision = decisions.get(permissionId);
    if ((asked.get(permissionId) ?? 0) > 1) again++;
    else
      assert.ok(decision?.by === 'recovery' && continued.has(decision.turnId), `${permissionId} was not asked again`);
  }
  return again;
}
