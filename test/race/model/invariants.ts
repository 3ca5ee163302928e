/** What must be true at the end of every schedule, whatever it was. The Log is what everything is measured by. */
import assert from 'node:assert/strict';
import type { Item, Transcript } from '../../../src/client/transcript.ts';
import type { Event, EventType } from '../../../src/core/event.ts';
import { chainCheck, FIRST_CHK } from '../../../src/core/log.ts';
import { type Actor, type Asked, reasonOf, wasClosed } from './actor.ts';
import type { Deeds } from './model-script.ts';
import type { Server } from './server.ts';

export async function assertInvariants(server: Server, sessionId: string, actors: readonly Actor[]): Promise<void> {
  const events = await server.events(sessionId);
  assert.deepEqual(server.errors(), [], 'nothing went wrong where nobody waits');
  await assertChain(server, sessionId, actors);
  assertTurns(events);
  assertPermissions(events, server.deeds, actors);
  for (const actor of actors) {
    assert.deepEqual(actor.complaints, []);
    for (const asked of actor.asked) assertPromise(asked, events, actor);
    assertTranscript(actor, events);
  }
  const [first, ...others] = actors.map(({ session }) => comparable(session?.transcript));
  for (const [index, other] of others.entries()) {
    assert.deepEqual(other, first, `${actors[index + 1]?.name} sees what the others see`);
  }
}

function all<T extends EventType>(events: readonly Event[], type: T): Event<T>['data'][] {
  return events.filter((event) => event.type === type).map(({ data }) => data as Event<T>['data']);
}

/** The Log is dense, its chain holds, and every cursor that anybody was ever sent names a place in it. */
async function assertChain({ log }: Server, sessionId: string, actors: readonly Actor[]): Promise<void> {
  const row = await log.session(sessionId);
  const places = new Set<string>();
  let chk = FIRST_CHK;
  for (const [index, entry] of (await log.read(sessionId, -1, 100_000)).entries()) {
    assert.equal(entry.event.seq, index);
    chk = chainCheck(chk, entry.event.id, JSON.stringify(entry.event));
    assert.equal(entry.chk, chk, `the chain holds at ${index}`);
    places.add(`p1.${row?.head.epoch}.${index}.${chk}`);
  }
  for (const { cursors, name } of actors) {
    for (const cursor of cursors) {
      const place = cursor.split('.').slice(0, 4).join('.');
      assert.ok(places.has(place), `${name} was sent ${cursor}, which the Log does not have`);
    }
  }
}

function assertTurns(events: readonly Event[]): void {
  let open: string | undefined;
  for (const { type, data, seq } of events) {
    if (type === 'turn_started') {
      assert.equal(open, undefined, `a Turn began inside another at ${seq}`);
      open = data.turnId;
    } else if (type === 'turn_finished') {
      assert.equal(data.turnId, open, `a Turn ended that was not open at ${seq}`);
      open = undefined;
    } else if ('turnId' in data) {
      assert.equal(data.turnId, open, `${type} of another Turn at ${seq}`);
    }
  }
  assert.equal(open, undefined, 'every Turn ended');
  const keys = all(events, 'user_message').map(({ promptKey }) => promptKey);
  assert.equal(new Set(keys).size, keys.length, 'a key ran once');
  const calls = all(events, 'tool_call').map(({ callId }) => callId);
  assert.deepEqual(calls.sort(), results(events), 'each call has one result');
}

const results = (events: readonly Event[]) =>
  all(events, 'tool_result')
    .map(({ callId }) => callId)
    .sort();

/** Asked once, decided once, as somebody said; carried out at most once, and only what was allowed. */
function assertPermissions(events: readonly Event[], deeds: Deeds, actors: readonly Actor[]): void {
  const decisions = all(events, 'permission_decision').filter(({ permissionId }) => permissionId !== undefined);
  const asked = all(events, 'permission_requested').map(({ permissionId }) => permissionId);
  assert.deepEqual(decisions.map(({ permissionId }) => permissionId).sort(), asked.sort(), 'each is decided once');
  for (const { permissionId = '', decision, by } of decisions) {
    if (by !== 'local') continue;
    const given = actors.flatMap(({ answered }) => answered.get(permissionId) ?? []);
    assert.ok(given.includes('allow') === (decision === 'allow') || given.length > 1, `${decision} was said`);
    assert.notEqual(given.length, 0, 'somebody answered');
  }
  for (const actor of actors) {
    for (const permissionId of actor.answered.keys()) assert.ok(asked.includes(permissionId), 'it is in the Log');
  }
  assertDeeds(events, deeds);
}

function assertDeeds(events: readonly Event[], deeds: Deeds): void {
  const calls = all(events, 'tool_call').map((data) => ({ ...data, text: (data.args as { text: string }).text }));
  const succeeded = new Set(all(events, 'tool_result').flatMap(({ ok, callId }) => (ok ? [callId] : [])));
  const allowed = all(events, 'permission_decision').filter(({ decision }) => decision === 'allow');
  for (const [text, times] of deeds) {
    assert.equal(times, 1, `${text} was carried out once`);
    const named = calls.filter((call) => call.text === text);
    assert.ok(named.length > 0, `${text} was recorded before it was carried out`);
    if (named[0]?.kind === 'edit') {
      const may = allowed.some(({ callId }) => named.some((call) => call.callId === callId));
      assert.ok(may, `${text} was allowed`);
    }
  }
  for (const { callId, text } of calls) assert.ok(!succeeded.has(callId) || deeds.has(text), `${text} was carried out`);
}

function assertPromise(asked: Asked, events: readonly Event[], { name, role }: Actor): void {
  const { what, text, outcome } = asked;
  assert.notEqual(outcome, 'pending', `${name} was never answered: ${what} ${text}`);
  if (outcome === 'pending' || wasClosed(asked)) return;
  if ('refused' in outcome) {
    const reason = reasonOf(outcome.refused);
    const because = role === 'observer' ? 'observer' : 'turn_in_progress';
    assert.ok(reason === because || reason === 'prompt_pending', `${name}: ${what} ${text} was refused: ${reason}`);
  }
  if (what !== 'prompt') return;
  const begun = all(events, 'user_message').find(
    ({ content: [first] }) => first?.type === 'text' && first.text === text,
  );
  if ('refused' in outcome) {
    assert.equal(begun, undefined, `${text} was refused and ran`);
  } else if (outcome.stopReason !== 'cancelled') {
    const end = all(events, 'turn_finished').find(({ turnId }) => turnId === begun?.turnId);
    assert.equal(end?.stopReason, outcome.stopReason, `${text} ended as it was answered`);
  }
}

/** The transcript is the fold of the Log, written here a second time and without any of the product's code. */
function assertTranscript({ name, session }: Actor, events: readonly Event[]): void {
  const transcript = session?.transcript;
  const shown = transcript?.items.map((item) => (item.type === 'tool' ? [item.id, item.call.status] : textOf(item)));
  const expected = events.flatMap(({ id, type, data }): unknown[] => {
    if (type === 'user_message') return [[data.promptKey, JSON.stringify(data.content)]];
    if (type === 'assistant_message') return [[data.messageId, data.text]];
    if (type === 'reasoning') return [[data.messageId, data.summary]];
    if (type === 'tool_call') return [[data.callId, statusOf(events, data.callId)]];
    return type === 'turn_finished' && data.error ? [[`end_${id}`, data.error.message]] : [];
  });
  assert.deepEqual(shown, expected, `${name} sees what was recorded`);
  assert.equal(
    transcript?.items.find((item) => 'pending' in item),
    undefined,
    `${name} waits for nothing`,
  );
  assert.deepEqual(transcript?.plan, all(events, 'plan').at(-1)?.entries, `${name} sees the plan`);
  assert.equal(transcript?.mode, all(events, 'session_configured').at(-1)?.mode, `${name} sees the mode`);
}

function statusOf(events: readonly Event[], callId: string): string {
  return all(events, 'tool_result').some((result) => result.callId === callId && result.ok) ? 'completed' : 'failed';
}

function textOf(item: Exclude<Item, { type: 'tool' }>): unknown {
  return item.type === 'user' ? [item.promptKey, JSON.stringify(item.content)] : [item.id, item.text];
}

/** A client's own prompts have their key for an id; in everything else two transcripts are equal. */
function comparable(transcript: Transcript | undefined): unknown {
  const items = transcript?.items.map((item) => (item.type === 'user' ? { ...item, id: item.promptKey } : item));
  return { ...transcript, items };
}
