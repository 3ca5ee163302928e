import assert from 'node:assert/strict';
import { call, finish, say } from '../../../src/providers/script.ts';
import { Follower } from '../../support/follower.ts';
import type { Update, WireClient } from '../../support/wire-client.ts';
import { ask, type On, rejects, selected, streaming } from './stage.ts';

const cursorOf = (frame: { params?: Record<string, unknown> }) =>
  (frame.params?._meta as { pixir?: { cursor?: string } })?.pixir?.cursor;
const cursors = (client: WireClient) =>
  client.frames.filter((frame) => isOfTheLog(frame)).map((frame) => cursorOf(frame));
/** The commands there are do not belong to any Session's record. */
const isOfTheLog = ({ method, params }: WireClient['frames'][number]) =>
  method === 'session/update' && (params?.update as Update | undefined)?.sessionUpdate !== 'available_commands_update';
const caughtUp = (client: WireClient) => client.frames.filter(({ method }) => method === '_pixir/session/caught_up');

export function attaching(on: On): void {
  const hello = {
    script: [
      [...say('Hello there.'), finish()],
      [...say('More.'), finish()],
    ],
  };

  on('[ATT1] plain clients never see a cursor', hello, async ({ w, client, another }) => {
    const sessionId = await client.newSession(w.dir);
    await client.prompt(sessionId, 'hi');
    const loader = await another();
    await loader.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
    for (const { frames } of [client, loader]) assert.doesNotMatch(JSON.stringify(frames), /"cursor":"/);
  });

  on('[ATT2] attach answers, replays what was missed, says caught_up once, and goes on live', hello, async (stage) => {
    const { w, client, withCursors } = stage;
    const sessionId = await client.newSession(w.dir);
    await client.prompt(sessionId, 'hi');
    const reader = await withCursors();
    const result = await reader.request('_pixir/session/attach', { sessionId });
    const { tail } = (await w.log.session(sessionId).then((row) => ({ tail: row?.head }))) ?? {};
    const head = `p1.${tail?.epoch}.${tail?.seq}.${tail?.chk}`;
    assert.deepEqual(result, { mode: 'backfill', head, state: 'idle', role: 'controller' });
    const end = await reader.frame(({ method }) => method === '_pixir/session/caught_up');
    assert.deepEqual(end.params, { sessionId, cursor: head, state: 'idle', permissions: [] });
    assert.equal(reader.frames.at(-1), end, 'after everything that was missed');
    assert.equal(reader.text(), 'Hello there.');
    await client.prompt(sessionId, 'more');
    await reader.update(({ content }) => (content as { text?: string })?.text === 'More.');
    assert.equal(caughtUp(reader).length, 1);
    assert.ok(cursors(reader).every((cursor) => cursor?.startsWith('p1.')));
  });

  on(
    '[ATT3] attached twice with nothing in between: nothing is sent the second time',
    hello,
    async ({ w, client, withCursors }) => {
      const sessionId = await client.newSession(w.dir);
      await client.prompt(sessionId, 'hi');
      const reader = await withCursors();
      const follower = new Follower(sessionId);
      reader.onFrame = (frame) => follower.apply(frame);
      await follower.attach(reader);
      await reader.frame(({ method }) => method === '_pixir/session/caught_up');
      const before = reader.updates().length;
      assert.equal((await follower.attach(reader)).mode, 'current');
      await reader.request('logout', {});
      assert.deepEqual([reader.updates().length, caughtUp(reader).length], [before, 2]);
    },
  );

  on('[ATT4] a cursor that does not fit is a reset with its reason, and everything follows', hello, async (stage) => {
    const { w, client, withCursors } = stage;
    const sessionId = await client.newSession(w.dir);
    await client.prompt(sessionId, 'hi');
    const other = await client.newSession(w.dir);
    const head = (await w.log.session(sessionId))?.head;
    const foreign = (await w.log.session(other))?.head;
    assert.ok(head && foreign);
    const wrong = head.chk.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
    const cases: [string, string][] = [
      ['', 'malformed'],
      ['garbage', 'malformed'],
      [`p2.${head.epoch}.${head.seq}.${head.chk}`, 'malformed'],
      [`p1.${head.epoch}.-1.${head.chk}`, 'malformed'],
      [`p1.${head.epoch}.1e3.${head.chk}`, 'malformed'],
      [`p1.${foreign.epoch}.${foreign.seq}.${foreign.chk}`, 'epoch_changed'],
      [`p1.${head.epoch}.${head.seq + 1}.${head.chk}`, 'ahead'],
      [`p1.${head.epoch}.${head.seq}.${wrong}`, 'diverged'],
      [`p1.${head.epoch}.${head.seq - 1}.${head.chk}`, 'diverged'],
    ];
    for (const [cursor, reason] of cases) {
      const reader = await withCursors();
      const result = await reader.request('_pixir/session/attach', { sessionId, cursor });
      assert.deepEqual([result.mode, result.reason], ['reset', reason], cursor);
      await reader.frame(({ method }) => method === '_pixir/session/caught_up');
      assert.equal(reader.text(), 'Hello there.');
    }
  });

  on('[ATT5] unknown Sessions, and ids that are none', {}, async ({ withCursors }) => {
    const reader = await withCursors();
    await rejects(reader.request('_pixir/session/attach', { sessionId: 'nobody' }), -32002, { sessionId: 'nobody' });
    await rejects(reader.request('_pixir/session/attach', { sessionId: '../x' }), -32602);
    await rejects(reader.request('_pixir/session/attach', { sessionId: 'nobody', role: 'owner' }), -32602);
    await rejects(reader.request('_pixir/session/detach', { sessionId: 'nobody' }), -32602, { reason: 'not_attached' });
  });

  on('[ATT6] detached, a client hears nothing more', hello, async ({ w, client, withCursors }) => {
    const sessionId = await client.newSession(w.dir);
    const reader = await withCursors();
    await reader.request('_pixir/session/attach', { sessionId, cursor: 'head' });
    assert.deepEqual(await reader.request('_pixir/session/detach', { sessionId }), {});
    await client.prompt(sessionId, 'hi');
    await reader.request('logout', {});
    assert.deepEqual(reader.updates(), []);
  });

  on('[ATT7] an observer watches: it is asked nothing and changes nothing', ask, async ({ w, client, withCursors }) => {
    const sessionId = await client.newSession(w.dir);
    const observer = await withCursors();
    await observer.request('_pixir/session/attach', { sessionId, role: 'observer' });
    const prompt = client.prompt(sessionId, 'go');
    const { id } = await client.frame(({ method }) => method === 'session/request_permission');
    await rejects(observer.prompt(sessionId, 'me too'), -32600, { reason: 'observer' });
    await rejects(observer.request('session/set_mode', { sessionId, modeId: 'plan' }), -32600, { reason: 'observer' });
    observer.notify('session/cancel', { sessionId });
    await observer.request('logout', {});
    client.raw({ jsonrpc: '2.0', id, result: selected('allow') });
    assert.deepEqual(await prompt, { stopReason: 'end_turn' });
    assert.ok(!observer.frames.some(({ method }) => method === 'session/request_permission'));
    await observer.update(({ content }) => (content as { text?: string })?.text === 'Done.');
  });

  on(
    '[ATT8] a pending permission is asked again of whoever attaches, after caught_up, under the same name',
    ask,
    async (stage) => {
      const { w, client, withCursors } = stage;
      const sessionId = await client.newSession(w.dir);
      const prompt = client.prompt(sessionId, 'go');
      const first = await client.frame(({ method }) => method === 'session/request_permission');
      const reader = await withCursors();
      const attached = await reader.request('_pixir/session/attach', { sessionId });
      assert.equal(attached.state, 'running');
      const again = await reader.frame(({ method }) => method === 'session/request_permission');
      assert.deepEqual(again.params?._meta, first.params?._meta);
      assert.ok(reader.frames.indexOf(caughtUp(reader)[0] ?? again) < reader.frames.indexOf(again));
      reader.raw({ jsonrpc: '2.0', id: again.id, result: selected('allow') });
      assert.deepEqual(await prompt, { stopReason: 'end_turn' });
    },
  );

  on('[ATT9] in mid-stream a cursor continues inside the sentence', streaming(), async ({ w, client, withCursors }) => {
    const sessionId = await client.newSession(w.dir);
    const reader = await withCursors();
    await reader.request('_pixir/session/attach', { sessionId });
    const prompt = client.prompt(sessionId, 'go');
    const half = await reader.update(({ content }) => (content as { text?: string })?.text === 'Half a ');
    reader.close();
    const back = await withCursors();
    const result = await back.request('_pixir/session/attach', { sessionId, cursor: cursorOf(half) });
    assert.deepEqual([result.mode, result.state], ['current', 'running']);
    w.provider.open('go');
    await prompt;
    await back.update(({ content }) => (content as { text?: string })?.text === 'sentence.');
    assert.equal(back.text(), 'sentence.');
  });

  on('[ATT10] a long Session is opened at its end and read backwards', hello, async ({ w, client, withCursors }) => {
    const sessionId = await client.newSession(w.dir);
    for (const text of ['one', 'two']) await client.prompt(sessionId, text);
    const reader = await withCursors();
    const { head } = await reader.request('_pixir/session/attach', { sessionId, cursor: 'head' });
    const pages: unknown[] = [];
    let before: unknown = head;
    while (before !== null) {
      const page = await reader.request('_pixir/session/history', { sessionId, before, limit: 2 });
      pages.unshift(...(page.updates as { update: unknown }[]).map(({ update }) => update));
      before = page.before;
    }
    const loader = await withCursors();
    await loader.request('_pixir/session/attach', { sessionId });
    await loader.frame(({ method }) => method === '_pixir/session/caught_up');
    assert.deepEqual(pages, loader.allUpdates(sessionId).slice(1), 'but for the commands');
    const bad = reader.request('_pixir/session/history', { sessionId, before: 'x', limit: 2 });
    await rejects(bad, -32602, { reason: 'malformed' });
  });

  on(
    '[ATT11] a prompt with a key, sent again by another connection, is answered by the same Turn',
    streaming(),
    async (stage) => {
      const { w, client, another } = stage;
      const sessionId = await client.newSession(w.dir);
      const meta = { pixir: { promptKey: 'k1' } };
      const first = client.prompt(sessionId, 'go', meta);
      await client.update(({ content }) => (content as { text?: string })?.text === 'Half a ');
      const other = await another();
      const joined = other.prompt(sessionId, 'go', meta);
      await rejects(other.prompt(sessionId, 'something else', meta), -32602, { reason: 'prompt_key_conflict' });
      w.provider.open('go');
      assert.deepEqual(await Promise.all([first, joined]), [{ stopReason: 'end_turn' }, { stopReason: 'end_turn' }]);
      assert.deepEqual(await client.prompt(sessionId, 'go', meta), { stopReason: 'end_turn' });
      assert.equal((await w.types(sessionId)).filter((type) => type === 'turn_started').length, 1);
    },
  );

  on(
    '[ATT12] everybody sees what anybody does: prompts, modes, plans',
    {
      script: [
        [call('c1', 'planner', { text: 'a' }), finish()],
        [...say('ok'), finish()],
      ],
    },
    async (stage) => {
      const { w, client, withCursors } = stage;
      const sessionId = await client.newSession(w.dir);
      const reader = await withCursors();
      await reader.request('_pixir/session/attach', { sessionId, cursor: 'head' });
      await client.request('session/set_mode', { sessionId, modeId: 'plan' });
      await client.prompt(sessionId, 'hi', { pixir: { promptKey: 'mine' } });
      await reader.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
      const kinds = reader.updates().map(({ sessionUpdate }) => sessionUpdate);
      const expected = [
        'current_mode_update',
        'config_option_update',
        'user_message_chunk',
        'tool_call',
        'tool_call_update',
        'plan',
        'agent_message_chunk',
      ];
      assert.deepEqual(kinds, expected);
      const said = reader.frames.find(
        ({ params }) => (params?.update as { sessionUpdate?: string })?.sessionUpdate === 'user_message_chunk',
      );
      assert.deepEqual((said?.params?._meta as { pixir?: { promptKey?: string } })?.pixir?.promptKey, 'mine');
    },
  );
}
