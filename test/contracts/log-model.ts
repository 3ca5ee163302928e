/** The Log against a model of it: whatever is asked in whatever order, without waiting, comes out as if one by one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CoreError } from '../../src/core/errors.ts';
import type { EventDraft } from '../../src/core/event.ts';
import type { LiveDraft, Log } from '../../src/core/log.ts';
import { created, said, titled, turnFinished, turnStarted } from '../store/support.ts';
import { fakeClock } from '../support/fake-clock.ts';
import type { LogFactory } from './log.ts';

type Step =
  | { do: 'append'; drafts: EventDraft[] }
  | { do: 'saveDraft'; sessionId: string; draft: LiveDraft }
  | { do: 'delete'; sessionId: string }
  | { do: 'wait' };

interface ModelSession {
  events: { type: string; data: unknown; ts: string }[];
  title: string | null;
  openTurnId: string | null;
  outcome: string | null;
  draft: LiveDraft | undefined;
}

const session = fc.constantFrom('a', 'b', 'c');
const messageId = fc.constantFrom('msg_1', 'msg_2');
const outcome = fc.constantFrom('completed', 'failed', 'cancelled');
const text = fc.string({ unit: 'binary', maxLength: 8 });

const draftOfEvent = (sessionId: string): fc.Arbitrary<EventDraft> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constant(created(sessionId)) },
    { weight: 3, arbitrary: text.map((title) => titled(sessionId, title)) },
    { weight: 5, arbitrary: fc.tuple(text, messageId).map(([said_, id]) => said(sessionId, said_, id)) },
    { weight: 2, arbitrary: fc.nat(9).map((turn) => turnStarted(sessionId, `turn_${turn}`)) },
    { weight: 2, arbitrary: outcome.map((how) => turnFinished(sessionId, 'turn_1', how)) },
  );

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: session.map((sessionId): Step => ({ do: 'append', drafts: [created(sessionId)] })) },
  {
    weight: 8,
    arbitrary: session
      .chain((sessionId) => fc.array(draftOfEvent(sessionId), { minLength: 1, maxLength: 4 }))
      .map((drafts): Step => ({ do: 'append', drafts })),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(session, messageId, text).map(
      ([sessionId, id, soFar]): Step => ({
        do: 'saveDraft',
        sessionId,
        draft: { turnId: 'turn_1', messageId: id, kind: 'message', text: soFar },
      }),
    ),
  },
  { weight: 1, arbitrary: session.map((sessionId): Step => ({ do: 'delete', sessionId })) },
  { weight: 3, arbitrary: fc.constant<Step>({ do: 'wait' }) },
);

export function modelProperty(factory: LogFactory, numRuns: number): void {
  test('[LOG15] any interleaving of writes ends as the model says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const clock = fakeClock();
        await using fixture = await factory(clock);
        const { log } = fixture;
        const model = createModel();
        const expected: string[] = [];
        let asked: Promise<unknown>[] = [];
        const outcomes: string[] = [];
        for (const next of [...steps, { do: 'wait' } as const]) {
          if (next.do === 'wait') {
            outcomes.push(...(await Promise.allSettled(asked)).map(outcomeOf));
            asked = [];
            clock.advance(1000);
          } else {
            expected.push(model.take(next, new Date(clock.now()).toISOString()));
            asked.push(ask(log, next));
          }
        }
        assert.deepEqual(outcomes, expected);
        await compare(log, model.sessions);
      }),
      { numRuns },
    );
  });
}

function ask(log: Parameters<typeof compare>[0], next: Exclude<Step, { do: 'wait' }>): Promise<unknown> {
  if (next.do === 'append') return log.append(next.drafts);
  if (next.do === 'saveDraft') return log.saveDraft(next.sessionId, next.draft);
  return log.deleteSession(next.sessionId);
}

function outcomeOf(result: PromiseSettledResult<unknown>): string {
  if (result.status === 'fulfilled') return 'ok';
  return result.reason instanceof CoreError ? result.reason.code : String(result.reason);
}

function createModel() {
  const sessions = new Map<string, ModelSession>();
  const deleted = new Set<string>();

  function append(drafts: readonly EventDraft[], ts: string): string {
    const sessionId = drafts[0]?.sessionId ?? '';
    let exists = sessions.has(sessionId);
    for (const { type } of drafts) {
      if (type === 'session_created' && exists) return 'already_exists';
      if (type !== 'session_created' && !exists) return 'unknown_session';
      exists = true;
    }
    if (deleted.has(sessionId)) return 'already_exists';
    const nothing = { title: null, openTurnId: null, outcome: null, draft: undefined };
    const target = sessions.get(sessionId) ?? { events: [], ...nothing };
    sessions.set(sessionId, target);
    for (const draft of drafts) apply(target, draft, ts);
    return 'ok';
  }

  function take(next: Exclude<Step, { do: 'wait' }>, ts: string): string {
    if (next.do === 'append') return append(next.drafts, ts);
    const target = sessions.get(next.sessionId);
    if (target === undefined) return 'unknown_session';
    if (next.do === 'saveDraft') {
      target.draft = next.draft;
    } else {
      sessions.delete(next.sessionId);
      deleted.add(next.sessionId);
    }
    return 'ok';
  }

  return { sessions, take };
}

function apply(target: ModelSession, draft: EventDraft, ts: string): void {
  target.events.push({ type: draft.type, data: draft.data, ts });
  if (draft.type === 'session_titled') target.title = draft.data.title.toWellFormed();
  if (draft.type === 'turn_started') target.openTurnId = draft.data.turnId;
  if (draft.type === 'assistant_message' && draft.data.messageId === target.draft?.messageId) target.draft = undefined;
  if (draft.type === 'turn_finished')
    Object.assign(target, { openTurnId: null, outcome: draft.data.outcome, draft: undefined });
}

async function compare(
  log: Log & { deleteSession(sessionId: string): Promise<void> },
  model: ReadonlyMap<string, ModelSession>,
): Promise<void> {
  const rows = await log.sessions({});
  const expected = [...model].map(([sessionId, { events }]) => ({ sessionId, updatedAt: events.at(-1)?.ts ?? '' }));
  const place = ({ sessionId, updatedAt }: { sessionId: string; updatedAt: string }) => `${updatedAt} ${sessionId}`;
  assert.deepEqual(rows.map(place), expected.map(place).sort().reverse());
  for (const [sessionId, { events, title, openTurnId, outcome, draft }] of model) {
    const entries = await log.read(sessionId, -1, 1000);
    assert.deepEqual(
      entries.map(({ event: { seq, type, data, ts } }) => ({ seq, type, data, ts })),
      events.map((event, seq) => ({ seq, ...event })),
    );
    const row = await log.session(sessionId);
    assert.deepEqual([row?.title, row?.openTurnId, row?.outcome], [title, openTurnId, outcome]);
    assert.deepEqual([row?.head.seq, row?.head.chk], [events.length - 1, entries.at(-1)?.chk]);
    assert.deepEqual(await log.draft(sessionId), draft);
  }
}
