import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { answer, attach, awaitTurn, configure, interrupt, resume, stopAll } from '../../src/core/conversation.ts';
import { CoreError } from '../../src/core/errors.ts';
import { start } from '../../src/core/lifecycle.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { sendText } from '../support/send.ts';
import { type World, world } from '../support/world.ts';

const newSession = async (w: World) => (await start(w.runtime, LOCAL, { workspace: w.dir })).id;
const full = () => new CoreError('log_write_failed', 'the disk is full');
const refused = (code: string) => (error: unknown) => error instanceof CoreError && error.code === code;
const hello = [...say('Hello.'), finish()];

/** Every Turn has one start and one end, and seq has no gap: what must hold whatever happened. */
async function assertWhole(w: World, sessionId: string): Promise<void> {
  const events = await w.events(sessionId);
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, index) => index),
  );
  const turns = (type: string) =>
    events.flatMap((event) => (event.type === type ? [(event.data as { turnId: string }).turnId] : []));
  assert.deepEqual(turns('turn_finished').sort(), turns('turn_started').sort());
  assert.equal(new Set(turns('turn_started')).size, turns('turn_started').length);
}

test('[S02] [S16] [SES1] a Session goes on where its Log ends', async () => {
  await using w = await world({ script: [hello, hello] });
  const id = await newSession(w);
  await (await sendText(w, id, 'one', { turnId: 'a' })).done;
  await (await sendText(w, id, 'two', { turnId: 'b' })).done;
  await assertWhole(w, id);
  assert.equal((await w.events(id)).length, 12);
});

test('[S03] an unknown Session is unknown', async () => {
  await using w = await world();
  await assert.rejects(resume(w.runtime, LOCAL, 'nobody'), refused('unknown_session'));
});

test('[SES2] however many ask at once, there is one Session and one writer', async () => {
  await using w = await world({ script: [hello] });
  const id = await newSession(w);
  const changes = Array.from({ length: 20 }, (_, n) => configure(w.runtime, LOCAL, id, { model: n % 2 ? 'm1' : 'm2' }));
  const prompts = Array.from({ length: 5 }, (_, n) => sendText(w, id, 'x', { turnId: `t${n}` }));
  const settled = await Promise.allSettled(prompts);
  assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1, '[S12] one Turn at a time');
  await Promise.all(changes);
  await awaitTurn(w.runtime, LOCAL, id);
  await assertWhole(w, id);
  assert.deepEqual(await w.runtime.sessions.all(), [], 'and nobody holds it afterwards');
});

test('[S10] [LAW1] what fails to persist is never published, and the prompt says so', async () => {
  await using w = await world({ script: [hello] });
  const id = await newSession(w);
  const seen: number[] = [];
  const watch = await attach(w.runtime, LOCAL, id, (signal) => signal.type === 'committed' && seen.push(signal.seq));
  w.log.failNext(full());
  await assert.rejects(sendText(w, id, 'one'), refused('log_write_failed'));
  assert.deepEqual(seen, []);
  assert.equal(watch.session.head, 0);
  await (await sendText(w, id, 'one')).done;
  await assertWhole(w, id);
  assert.deepEqual(
    w.errors.splice(0).filter((error) => !refused('log_write_failed')(error)),
    [],
  );
  watch.stop();
});

test('[FULL1] a disk that is full in mid-Turn ends that Turn once, and the next one works', async () => {
  await using w = await world({ script: [[{ type: 'wait', gate: 'go' }, ...hello], hello] });
  const id = await newSession(w);
  const turn = await sendText(w, id, 'one', { turnId: 'a' });
  w.log.failNext(full());
  w.provider.open('go');
  assert.equal((await turn.done).stopReason, 'end_turn');
  await (await sendText(w, id, 'two', { turnId: 'b' })).done;
  await assertWhole(w, id);
  const [failed] = (await w.events(id)).filter((event) => event.type === 'turn_finished');
  assert.equal(failed?.data.error?.kind, 'log_write_failed');
  w.errors.splice(0);
});

test('[FULL1] a write that fails while the model makes us wait does not wait for the model', async () => {
  await using w = await world({ script: [[{ type: 'wait', gate: 'go' }, ...say('Hello.'), { type: 'hang' }], hello] });
  const id = await newSession(w);
  const turn = await sendText(w, id, 'one', { turnId: 'a' });
  w.log.failNext(full());
  w.provider.open('go');
  assert.equal((await turn.done).stopReason, 'end_turn');
  await (await sendText(w, id, 'two', { turnId: 'b' })).done;
  await assertWhole(w, id);
  w.errors.splice(0);
});

test('[FULL2] while the disk stays full every prompt is refused, and nothing is lost when it has room again', async () => {
  await using w = await world({ script: [[{ type: 'wait', gate: 'go' }, ...hello], hello] });
  const id = await newSession(w);
  const turn = await sendText(w, id, 'one', { turnId: 'a' });
  w.log.failAll(full());
  w.provider.open('go');
  await assert.rejects(turn.done, refused('log_write_failed'));
  await assert.rejects(sendText(w, id, 'two', { turnId: 'b' }), refused('log_write_failed'));
  w.log.failAll(undefined);
  await (await sendText(w, id, 'two', { turnId: 'b' })).done;
  await assertWhole(w, id);
  w.errors.splice(0);
});

test('[S06] [S11] [S14] interrupt ends the Turn, twice is once, and without a Turn it is nothing', async () => {
  await using w = await world({ script: [[{ type: 'hang' }]] });
  const id = await newSession(w);
  assert.equal(await interrupt(w.runtime, LOCAL, id), undefined);
  const { done } = await sendText(w, id, 'one');
  const [a, b] = await Promise.all([interrupt(w.runtime, LOCAL, id), interrupt(w.runtime, LOCAL, id)]);
  assert.deepEqual([a, b], [await done, await done]);
  assert.equal((await done).stopReason, 'cancelled');
  await assertWhole(w, id);
});

test('[REC1] a crash in mid-Turn: the draft becomes a partial message, open calls have an unknown outcome', async () => {
  await using w = await world({ script: [[{ type: 'delta', kind: 'message', text: 'Half a sen' }, { type: 'hang' }]] });
  const id = await newSession(w);
  await sendText(w, id, 'one');
  await w.log.saveDraft(id, { turnId: 't1', messageId: 'm', kind: 'message', text: 'Half a' });
  await using next = await w.restart({ script: [hello] });
  await assertWhole(next, id);
  const [partial] = (await next.events(id)).filter((event) => event.type === 'assistant_message');
  assert.deepEqual([partial?.data.text, partial?.data.partial], ['Half a', 'interrupted']);
  assert.deepEqual(await next.log.draft(id), undefined);
  await (await sendText(next, id, 'two', { turnId: 'b' })).done;
  assert.deepEqual(
    next.provider.requests[0]?.history.map(({ type }) => type),
    ['user', 'user'],
  );
});

test('[REC2] a crash inside a tool: its outcome is unknown, it is never run again, and the model is told', async () => {
  await using w = await world({ script: [[call('c1', 'hang', {}), finish()]] });
  const id = await newSession(w);
  const shown = Promise.withResolvers<void>();
  const watch = await attach(w.runtime, LOCAL, id, (signal) => signal.type === 'tool_output' && shown.resolve());
  await sendText(w, id, 'one');
  await shown.promise;
  await using next = await w.restart({ script: [hello] });
  await (await sendText(next, id, 'two', { turnId: 'b' })).done;
  const result = next.provider.requests[0]?.history.find((item) => item.type === 'tool_result');
  assert.match(result?.type === 'tool_result' ? result.output : '', /outcome_unknown/);
  await assertWhole(next, id);
  watch.stop();
});

test('[DRAFT1] the text so far is checkpointed while it streams, and forgotten with its commit', async () => {
  const part = (text: string) => ({ type: 'delta' as const, kind: 'message' as const, text });
  await using w = await world({
    script: [
      [
        part('one '),
        { type: 'wait', gate: 'more' },
        part('two'),
        { type: 'wait', gate: 'end' },
        { type: 'message', text: 'one two' },
        finish(),
      ],
    ],
  });
  const id = await newSession(w);
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const watch = await attach(w.runtime, LOCAL, id, (signal) => {
    if (signal.type === 'delta') (signal.offset === 0 ? first : second).resolve();
  });
  const { done } = await sendText(w, id, 'go');
  await first.promise;
  assert.equal(await draftText(w, id), undefined);
  w.clock.advance(200);
  assert.equal(await draftText(w, id), 'one ');
  w.provider.open('more');
  await second.promise;
  w.clock.advance(200);
  assert.equal(await draftText(w, id), 'one two');
  w.provider.open('end');
  await done;
  assert.equal(await draftText(w, id), undefined);
  watch.stop();
});

/** After the writes that are on their way. */
async function draftText(w: World, id: string): Promise<string | undefined> {
  await setImmediate();
  return (await w.log.draft(id))?.text;
}

test('[KEY1] a prompt with a key runs once: joined while it runs, answered when it is over, refused when it differs', async () => {
  await using w = await world({ script: [[{ type: 'wait', gate: 'go' }, ...hello]] });
  const id = await newSession(w);
  const first = await sendText(w, id, 'one', { turnId: 'a', promptKey: 'k' });
  const joined = await sendText(w, id, 'one', { turnId: 'b', promptKey: 'k' });
  assert.equal(joined.turnId, 'a');
  await assert.rejects(sendText(w, id, 'other', { turnId: 'c', promptKey: 'k' }), refused('invalid_params'));
  w.provider.open('go');
  assert.deepEqual(await joined.done, await first.done);
  const late = await sendText(w, id, 'one', { turnId: 'd', promptKey: 'k' });
  assert.deepEqual(await late.done, await first.done);
  await using next = await w.restart();
  const again = await sendText(next, id, 'one', { turnId: 'e', promptKey: 'k' });
  assert.deepEqual(await again.done, await first.done);
  await assertWhole(next, id);
});

test('[PERM12] a decision is made once: the second one, and one for nothing, change nothing', async () => {
  await using w = await world({
    script: [[call('c1', 'poke', {}), finish()], hello],
    settings: { permissionCeiling: 'ask' },
  });
  const id = await newSession(w);
  const asked = Promise.withResolvers<string>();
  const watch = await attach(w.runtime, LOCAL, id, () => {
    const [permissionId] = watch.session.state.permissions.keys();
    if (permissionId) asked.resolve(permissionId);
  });
  const { done } = await sendText(w, id, 'go');
  const permissionId = await asked.promise;
  const decide = (decision: 'allow' | 'deny') => answer(w.runtime, LOCAL, id, { permissionId, decision });
  assert.deepEqual(await Promise.all([decide('deny'), decide('allow')]), [true, false]);
  await done;
  assert.equal(await decide('allow'), false);
  assert.equal(await answer(w.runtime, LOCAL, id, { permissionId: 'perm_none', decision: 'allow' }), false);
  watch.stop();
});

test('[STOP1] an orderly end stops every Turn as interrupted and waits for the record of it', async () => {
  await using w = await world({ script: [[{ type: 'hang' }]] });
  const id = await newSession(w);
  const { done } = await sendText(w, id, 'go');
  await stopAll(w.runtime, 'interrupt');
  assert.equal((await done).stopReason, 'cancelled');
  await assertWhole(w, id);
});
