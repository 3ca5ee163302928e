/** How Sessions begin, are named, forked and deleted, in the runtime alone and in every order that can be arranged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { configure, send } from '../../src/core/conversation.ts';
import { CoreError } from '../../src/core/errors.ts';
import type { Event } from '../../src/core/event.ts';
import { applyToHistory, emptyHistory, historyItems } from '../../src/core/history.ts';
import { fork, list, remove, setTitle, start } from '../../src/core/lifecycle.ts';
import { LOCAL, type Principal } from '../../src/core/principal.ts';
import { askedOf, titleOf } from '../../src/core/prompt-text.ts';
import { call, finish, say, think } from '../../src/providers/script.ts';
import { sqliteFixture } from '../store/sqlite-support.ts';
import { seeded } from '../support/seeded.ts';
import { sendText } from '../support/send.ts';
import { type World, world } from '../support/world.ts';

const settled = () => new Promise(setImmediate);
const begin = async (w: World, who = LOCAL) => (await start(w.runtime, who, { workspace: w.dir })).id;
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error) => (error instanceof CoreError ? error.code : String(error)),
  );
const hello = [...say('Hello.'), finish()];
const hanging = [{ type: 'hang' as const }];
const forked = (w: World, sessionId: string, upTo?: number) =>
  fork(w.runtime, LOCAL, { sessionId, workspace: w.dir, ...(upTo === undefined ? {} : { upTo: async () => upTo }) });
const text = (value: string) => [{ type: 'text' as const, text: value }];

test('[LIFE5] [LIMIT1] what is deleted gives its place back, once; a fork takes one', async () => {
  await using w = await world({ script: [], limits: { sessionsPerOwner: 2 } });
  const one = await begin(w);
  const two = await forked(w, one);
  assert.equal(await codeOf(forked(w, one)), 'limit_exceeded');
  await Promise.all([remove(w.runtime, LOCAL, one), remove(w.runtime, LOCAL, one)]);
  await remove(w.runtime, LOCAL, one);
  await begin(w);
  assert.equal(await codeOf(begin(w)), 'limit_exceeded', `and ${two.id} has the other`);
});

test('[LIFE1] the list has what its reader reaches, however much lies between', async () => {
  await using w = await world({ script: [] });
  const mine = [];
  for (let n = 0; n < 600; n++) {
    w.clock.advance(1);
    if (n % 300 === 0) mine.unshift(await begin(w));
    else await w.log.append([created(`elsewhere-${n}`, n % 2 ? 'local' : 'other')]);
  }
  const phone: Principal = { ...LOCAL, name: 'phone', workspaces: [w.dir] };
  const rows = await list(w.runtime, phone, { limit: 10 });
  assert.deepEqual(
    rows.map(({ sessionId }) => sessionId),
    mine,
  );
  assert.deepEqual(await list(w.runtime, phone, { limit: 10, workspace: '/elsewhere' }), []);
  assert.equal((await list(w.runtime, LOCAL, { limit: 10, workspace: '/elsewhere' })).length, 10);
});

function created(sessionId: string, owner: string) {
  const data = { workspace: '/elsewhere', mode: 'build' as const, permissionCeiling: 'auto' as const, owner };
  return { sessionId, type: 'session_created' as const, data };
}

test('[LIFE7] a title is one plain line, cut at a word', () => {
  const long = 'Please look at the connection pool and find out why it leaks sockets';
  const titles: [string, string | null][] = [
    ['fix', 'fix'],
    ['\n\n  > ## **Fix**  the `parser`\u2028now', 'Fix the parser'],
    ['- [ ] a_b * c', '[ ] a_b c'],
    ['\u202egpj.exe\u0007 \u200bx\ud800', 'gpj.exe x'],
    [' \u200b\n\t\n', null],
    [long, 'Please look at the connection pool and find out why it…'],
    ['x'.repeat(61), `${'x'.repeat(59)}…`],
    ['x'.repeat(60), 'x'.repeat(60)],
    ['\u{1f600}'.repeat(61), `${'\u{1f600}'.repeat(59)}…`],
  ];
  for (const [prompt, title] of titles) assert.equal(titleOf(text(prompt)), title);
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (prompt) => {
      const title = titleOf(text(prompt));
      assert.ok(title === null || (title !== '' && [...title].length <= 60 && !/[\p{C}\n]/u.test(title)), title ?? '');
    }),
  );
  assert.deepEqual(askedOf({ content: [...text('/plan'), ...text('x')], command: 'plan' }), text('x'));
});

test('[LIFE7] a failed Turn and a second one after a crash title the Session, in the commit of their end', async () => {
  const error = new CoreError('network', 'the line went dead');
  await using w = await world({ script: [[{ type: 'fail', error }], hanging] });
  const id = await begin(w);
  const link = [{ type: 'resource_link' as const, uri: 'file:///x', name: 'x' }];
  await (await send(w.runtime, LOCAL, { sessionId: id, turnId: 't', messageId: 'm', content: link })).done;
  assert.ok(!(await w.types(id)).includes('session_titled'), 'nothing was said yet');
  await sendText(w, id, 'second');
  await using next = await w.restart();
  assert.deepEqual((await next.types(id)).slice(-2), ['session_titled', 'turn_finished']);
  assert.equal((await next.log.session(id))?.title, 'second');
});

test('[LIFE8] a title on its way when the Turn ends is the only one', async () => {
  for (let microtasks = 0; microtasks < 40; microtasks++) {
    await using w = await world({ script: [[{ type: 'wait', gate: 'end' }, ...hello]] });
    const id = await begin(w);
    const { done } = await sendText(w, id, 'go');
    w.provider.open('end');
    for (let n = 0; n < microtasks; n++) await (n % 8 === 7 ? settled() : undefined);
    await setTitle(w.runtime, LOCAL, id, 'Mine');
    await done;
    const titles = (await w.events(id)).flatMap(({ type, data }) => (type === 'session_titled' ? [data.title] : []));
    assert.equal(titles.at(-1), 'Mine', `after ${microtasks}`);
    assert.ok(!titles.slice(titles.indexOf('Mine')).includes('go'));
  }
});

/** History as the model is shown it, folded from these Events alone. */
function historyOf(events: readonly Event[]) {
  const history = emptyHistory();
  for (const event of events) applyToHistory(history, event);
  return historyItems(history);
}

test("[LIFE9] wherever it is cut, a fork's History is the source's at the end of that Turn", async () => {
  const turn = [
    [...think('Hm.'), ...say('Looking.'), call('c', 'note', { text: 'x' }), finish()],
    [...say('Done.'), finish()],
  ];
  await using w = await world({ script: [...turn, ...turn, ...turn, hanging] });
  const id = await begin(w);
  for (const prompt of ['one', 'two', 'three']) await (await sendText(w, id, prompt, { promptKey: prompt })).done;
  await setTitle(w.runtime, LOCAL, id, 'Mine');
  await sendText(w, id, 'runs');
  const source = await w.events(id);
  const property = fc.asyncProperty(fc.nat(source.length - 1), async (upTo) => {
    const session = await forked(w, id, upTo);
    const events = await w.events(session.id);
    const end = source.slice(0, upTo + 1).findLastIndex(({ type }) => type === 'turn_finished');
    const [first] = events;
    assert.deepEqual(first?.type === 'session_created' && first.data.forkedFrom, {
      sessionId: id,
      seq: Math.max(end, 0),
    });
    assert.deepEqual(historyOf(events), historyOf(source.slice(0, end + 1)));
    assert.deepEqual([session.state.title, session.state.turn, session.state.prompts.size], ['Mine', null, 0]);
    assert.doesNotMatch(JSON.stringify(events), /promptKey/);
    await remove(w.runtime, LOCAL, session.id);
  });
  await fc.assert(property, { numRuns: 60, seed: Math.floor(seeded('LIFE9')() * 2 ** 31) });
  await remove(w.runtime, LOCAL, id);
});

test('[LIFE9] a fork that cannot be recorded is none', async () => {
  await using w = await world({ script: [hello] });
  const id = await begin(w);
  await (await sendText(w, id, 'one')).done;
  w.log.failNext(new CoreError('log_write_failed', 'the disk is full'));
  assert.equal(await codeOf(forked(w, id)), 'log_write_failed');
  assert.equal((await w.log.sessions({})).length, 1);
  assert.equal((await forked(w, id)).state.title, 'one');
});

test('[LIFE10] a fork is not looser than its source is now, nor than the server', async () => {
  await using w = await world({ script: [hello] });
  const id = await begin(w);
  await (await sendText(w, id, 'one')).done;
  await configure(w.runtime, LOCAL, id, { permissionMode: 'ask' });
  assert.equal((await forked(w, id)).state.permissionMode, 'ask');
  await using strict = await w.restart({ settings: { permissionCeiling: 'read_only' } });
  const { state } = await forked(strict, id);
  assert.deepEqual([state.permissionCeiling, state.permissionMode], ['read_only', 'read_only']);
  assert.deepEqual([state.owner, state.workspace], ['local', w.dir]);
});

test('[LIFE10] what was allowed for ever in the source is asked again in its fork', async () => {
  await using w = await world({ script: [hello, hello] });
  const id = await begin(w);
  const rule = { ruleId: 'r1', decision: 'allow' as const, tool: 'poke', keyHash: 'h', text: 'Always', by: 'local' };
  await w.log.append([{ sessionId: id, type: 'permission_rule', data: rule }]);
  await (await sendText(w, id, 'one')).done;
  const { state } = await forked(w, id);
  assert.deepEqual([...state.rules.values()], [null]);
  assert.equal(state.title, 'one');
});

test('[LIFE9] a Session of ten thousand Events is forked in one commit, and opens', async () => {
  await using fixture = await sqliteFixture();
  const { log } = fixture;
  await using w = await world({ script: [hello], log });
  const id = await begin(w);
  const turnId = 't';
  const filler = Array.from({ length: 1_666 }, (_, n) => [
    { sessionId: id, type: 'turn_started' as const, data: { turnId } },
    {
      sessionId: id,
      type: 'user_message' as const,
      data: { turnId, messageId: `u${n}`, content: text('x'.repeat(200)) },
    },
    { sessionId: id, type: 'assistant_message' as const, data: { turnId, messageId: `a${n}`, text: 'y'.repeat(800) } },
    { sessionId: id, type: 'assistant_message' as const, data: { turnId, messageId: `b${n}`, text: 'y'.repeat(800) } },
    { sessionId: id, type: 'plan' as const, data: { turnId, entries: [] } },
    {
      sessionId: id,
      type: 'turn_finished' as const,
      data: { turnId, outcome: 'completed' as const, stopReason: 'end_turn' as const },
    },
  ]).flat();
  await log.append(filler);
  const { commits } = log.stats;
  const session = await forked(w, id);
  assert.ok(log.stats.commits - commits <= 2, 'one, and one for its snapshot');
  assert.equal(session.head, (await log.session(id))?.head.seq);
  await (await sendText(w, session.id, 'go on')).done;
  assert.equal(w.provider.requests[0]?.history.length, 1_666 * 3 + 1);
  assert.equal((await log.verifySession(session.id)).ok, true);
});
