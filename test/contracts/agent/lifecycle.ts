import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { finish, say } from '../../../src/providers/script.ts';
import type { WireClient } from '../../support/wire-client.ts';
import { ask, type On, rejects, streaming } from './stage.ts';

interface Info {
  sessionId: string;
  cwd: string;
  title?: string;
  updatedAt: string;
  _meta: { pixir: { state: string } };
}

const list = async (client: WireClient, params: unknown = {}) =>
  (await client.request('session/list', params)) as unknown as { sessions: Info[]; nextCursor?: string };
const ids = ({ sessions }: { sessions: Info[] }) => sessions.map(({ sessionId }) => sessionId);
const isClosed = ({ method }: WireClient['frames'][number]) => method === '_pixir/session/closed';
const streams = (client: WireClient) => client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
const titles = (client: WireClient) =>
  client.allUpdates().flatMap(({ sessionUpdate, title }) => (sessionUpdate === 'session_info_update' ? [title] : []));
const hello = {
  script: [
    [...say('Hello.'), finish()],
    [...say('More.'), finish()],
    [...say('And more.'), finish()],
  ],
};

export function lifecycle(on: On): void {
  on('[LIFE1] the list: newest first, by directory, with what runs', streaming(), async ({ w, client }) => {
    await mkdir(join(w.dir, 'other'));
    const first = await client.newSession(w.dir);
    w.clock.advance(1_000);
    const other = await client.newSession(join(w.dir, 'other'));
    client.raw({ jsonrpc: '2.0', id: 'bare', method: 'session/list' });
    client.raw({ jsonrpc: '2.0', id: 'null', method: 'session/list', params: null });
    for (const id of ['bare', 'null'])
      assert.deepEqual(ids((await client.frame((frame) => frame.id === id)).result as never), [other, first]);
    w.clock.advance(1_000);
    const prompt = client.prompt(first, 'go');
    await streams(client);
    const { sessions, nextCursor } = await list(client, { cursor: null, cwd: null });
    assert.equal(nextCursor, undefined);
    const state = (at: number) => sessions[at]?._meta.pixir.state;
    assert.deepEqual([ids({ sessions }), state(0), state(1)], [[first, other], 'running', 'idle']);
    assert.deepEqual([sessions[0]?.cwd, sessions[0]?.title], [w.dir, undefined]);
    assert.match(sessions[0]?.updatedAt ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    w.provider.open('go');
    await prompt;
    assert.equal((await list(client)).sessions[0]?.title, 'go');
    assert.deepEqual(ids(await list(client, { cwd: join(w.dir, 'other', '..', 'other') })), [other]);
    assert.deepEqual(ids(await list(client, { cwd: join(w.dir, 'nothing') })), []);
    for (const params of [{ cwd: 'relative' }, { cwd: 7 }, [], 'x'])
      await rejects(client.request('session/list', params), -32602);
  });

  on('[LIFE2] its pages visit everything once, whatever happens meanwhile', hello, async ({ w, client }) => {
    const all: string[] = [];
    for (let n = 0; n < 120; n++) {
      if (n % 3 === 0) w.clock.advance(1);
      all.unshift(await client.newSession(w.dir));
    }
    w.clock.advance(1);
    const one = await list(client);
    assert.equal(one.sessions.length, 50);
    const [moved = '', gone = ''] = all.filter((id) => !ids(one).includes(id));
    await client.prompt(moved, 'to the front');
    await client.request('session/delete', { sessionId: gone });
    const made = await client.newSession(w.dir);
    const two = await list(client, { cursor: one.nextCursor });
    const three = await list(client, { cursor: two.nextCursor });
    assert.equal(three.nextCursor, undefined);
    const seen = [one, two, three].flatMap(ids);
    assert.equal(new Set(seen).size, seen.length, 'each once');
    assert.deepEqual(new Set([...seen, moved, gone]), new Set(all), 'all but what moved or went');
    const front = (await list(client)).sessions;
    assert.deepEqual(new Set(ids({ sessions: front.slice(0, 2) })), new Set([made, moved]));
    assert.ok((front[1]?.updatedAt ?? '') > (one.sessions[0]?.updatedAt ?? ''), 'it is newer than what was read');
    const twisted = Buffer.from(JSON.stringify({ updatedAt: 'x', sessionId: 'y' })).toString('base64url');
    for (const cursor of ['', 'x', '{}', twisted, 'p1.0.0.0', 7])
      await rejects(client.request('session/list', { cursor }), -32602);
  });

  on('[LIFE3] close in mid-Turn: the prompt is cancelled, then {}', streaming(), async (stage) => {
    const { w, client, another } = stage;
    const sessionId = await client.newSession(w.dir);
    const elsewhere = await client.newSession(w.dir);
    const other = await another();
    await other.request('session/resume', { sessionId, cwd: w.dir });
    const prompt = client.prompt(sessionId, 'go');
    await streams(client);
    const closed = client.request('session/close', { sessionId });
    assert.deepEqual([await prompt, await closed], [{ stopReason: 'cancelled' }, {}]);
    const answers = client.frames.slice(-2).map(({ result }) => result);
    assert.deepEqual(answers, [{ stopReason: 'cancelled' }, {}], 'in this order');
    assert.deepEqual((await w.types(sessionId)).at(-1), 'turn_finished');
    await other.request('session/set_mode', { sessionId, modeId: 'plan' });
    await other.update(({ sessionUpdate }) => sessionUpdate === 'config_option_update');
    assert.ok(client.updates(sessionId).every(({ sessionUpdate }) => sessionUpdate !== 'current_mode_update'));
    await client.request('session/set_mode', { sessionId: elsewhere, modeId: 'plan' });
    for (const id of [sessionId, elsewhere, 'nobody'])
      assert.deepEqual(await client.request('session/close', { sessionId: id }), {});
    await rejects(client.request('session/close', { sessionId: '../x' }), -32602);
    await client.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
    assert.ok(!client.frames.some(isClosed) && ids(await list(client)).includes(sessionId), 'it is still there');
  });

  on('[LIFE4] an observer that closes only lets go', ask, async ({ w, client, another }) => {
    const sessionId = await client.newSession(w.dir);
    client.onPermission = () => undefined;
    const prompt = client.prompt(sessionId, 'go');
    const asked = await client.frame(({ method }) => method === 'session/request_permission');
    const watcher = await another();
    await watcher.request('_pixir/session/attach', { sessionId, role: 'observer' });
    await rejects(watcher.request('session/delete', { sessionId }), -32600, { reason: 'observer' });
    assert.deepEqual(await watcher.request('session/close', { sessionId }), {});
    const result = { outcome: { outcome: 'selected', optionId: 'allow' } };
    client.raw({ jsonrpc: '2.0', id: asked.id, result });
    assert.deepEqual(await prompt, { stopReason: 'end_turn' });
    await rejects(watcher.request('_pixir/session/detach', { sessionId }), -32602, { reason: 'not_attached' });
  });

  on('[LIFE5] delete: cancelled, told to everybody, gone', streaming(), async ({ w, client, another, withCursors }) => {
    const sessionId = await client.newSession(w.dir);
    const [plain, watcher] = [await another(), await withCursors()];
    await plain.request('session/resume', { sessionId, cwd: w.dir });
    await watcher.request('_pixir/session/attach', { sessionId, role: 'observer' });
    const prompt = client.prompt(sessionId, 'go');
    await streams(client);
    assert.deepEqual(await plain.request('session/delete', { sessionId }), {});
    assert.deepEqual(await prompt, { stopReason: 'cancelled' });
    for (const reader of [client, plain, watcher]) {
      assert.deepEqual((await reader.frame(isClosed)).params, { sessionId, reason: 'deleted' });
      await reader.request('logout', {});
      assert.equal(reader.frames.filter(isClosed).length, 1);
    }
    assert.deepEqual([ids(await list(client)), await w.events(sessionId)], [[], []]);
    assert.deepEqual(await client.request('session/delete', { sessionId }), {}, 'again');
    for (const method of ['session/load', 'session/resume', 'session/fork'])
      await rejects(client.request(method, { sessionId, cwd: w.dir, mcpServers: [] }), -32002, { sessionId });
    await rejects(client.prompt(sessionId, 'still there?'), -32002, { sessionId });
    await rejects(watcher.request('_pixir/session/attach', { sessionId }), -32002, { sessionId });
    await rejects(watcher.request('_pixir/session/detach', { sessionId }), -32602, { reason: 'not_attached' });
    await client.newSession(w.dir);
  });

  on('[LIFE7] the first prompt is the title, once', hello, async ({ w, client, another }) => {
    const sessionId = await client.newSession(w.dir);
    const other = await another();
    await other.request('session/resume', { sessionId, cwd: w.dir });
    await client.prompt(sessionId, '\n ## Mend  the\ttests\nplease');
    await client.prompt(sessionId, 'Another thing');
    await other.update(({ content }) => (content as { text?: string } | undefined)?.text === 'More.');
    for (const reader of [client, other]) assert.deepEqual(titles(reader), ['Mend the tests']);
    const [ended] = client.frames.filter(({ result }) => result?.stopReason);
    const told = client.frames.find(({ params }) => (params?.update as { title?: string } | undefined)?.title);
    assert.ok(ended && told && client.frames.indexOf(told) < client.frames.indexOf(ended), 'before the answer');
    assert.equal((await list(client)).sessions[0]?.title, 'Mend the tests');
  });

  on('[LIFE8] a title that is set stays, also in mid-Turn', streaming(), async ({ w, client, another }) => {
    const sessionId = await client.newSession(w.dir);
    const other = await another();
    await other.request('session/resume', { sessionId, cwd: w.dir });
    const prompt = client.prompt(sessionId, 'go');
    await streams(client);
    assert.deepEqual(await other.request('session/set_title', { sessionId, title: '  Mine ' }), { title: 'Mine' });
    w.provider.open('go');
    await prompt;
    for (const reader of [client, other]) {
      await reader.update(({ title }) => title === 'Mine');
      assert.deepEqual(titles(reader), ['Mine']);
    }
    for (const title of ['', '  ', 'x'.repeat(201), 7, undefined])
      await rejects(client.request('session/set_title', { sessionId, title }), -32602);
    await rejects(client.request('session/set_title', { sessionId: 'nobody', title: 'x' }), -32002);
    const later = await (await w.restart()).client();
    assert.equal((await list(later)).sessions[0]?.title, 'Mine');
    await later.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
    assert.deepEqual(titles(later), ['Mine']);
  });

  on('[LIFE9] [LIFE10] a fork goes on from a finished Turn', hello, async ({ w, client, withCursors }) => {
    const sessionId = await client.newSession(w.dir);
    const reader = await withCursors();
    await reader.request('_pixir/session/attach', { sessionId });
    await client.prompt(sessionId, 'one', { pixir: { promptKey: 'k' } });
    const idle = await reader.frame(({ params }) => params?.state === 'idle' && params.turn !== undefined);
    await client.prompt(sessionId, 'two');
    const fork = async (_meta?: unknown) => client.request('session/fork', { sessionId, cwd: w.dir, _meta });
    const whole = await fork();
    assert.ok(whole.modes && whole.configOptions);
    const id = String(whole.sessionId);
    assert.deepEqual(client.updates(id), [], 'nothing is replayed');
    assert.deepEqual(await w.types(id), await w.types(sessionId));
    await client.prompt(id, 'three', { pixir: { promptKey: 'k' } });
    assert.deepEqual([client.text(id), client.text(sessionId)], ['And more.', 'Hello.More.'], 'the key ran here too');
    const asked = w.provider.requests.at(-1)?.history.filter(({ type }) => type === 'user').length;
    assert.equal(asked, 3, 'and the model knows what came before');
    const early = String((await fork({ pixir: { cursor: idle.params?.cursor } })).sessionId);
    const loader = await withCursors();
    await loader.request('session/load', { sessionId: early, cwd: w.dir, mcpServers: [] });
    assert.equal(loader.text(early), 'Hello.');
    const listed = (await list(client)).sessions.map(({ title }) => title);
    assert.deepEqual(listed, ['one', 'one', 'one']);
    await rejects(fork({ pixir: { cursor: 'x' } }), -32602, { reason: 'malformed' });
    await rejects(client.request('session/fork', { sessionId, cwd: '/', mcpServers: [] }), -32602, { field: 'cwd' });
    await rejects(client.request('session/fork', { sessionId: 'nobody', cwd: w.dir }), -32002);
  });

  on('[LIFE13] mode and option are one, also in mid-Turn', streaming(), async ({ w, client, another }) => {
    const sessionId = await client.newSession(w.dir);
    const other = await another();
    await other.request('session/resume', { sessionId, cwd: w.dir });
    const prompt = client.prompt(sessionId, 'go');
    await streams(client);
    await client.request('session/set_mode', { sessionId, modeId: 'plan' });
    const { configOptions } = await client.request('session/set_config_option', {
      sessionId,
      configId: 'mode',
      value: 'build',
    });
    assert.equal((configOptions as { id: string; currentValue: string }[])[0]?.currentValue, 'build');
    w.provider.open('go');
    assert.deepEqual(await prompt, { stopReason: 'end_turn' });
    await other.update(({ content }) => (content as { text?: string } | undefined)?.text === 'sentence.');
    for (const reader of [client, other]) {
      const modes = reader.updates().filter(({ sessionUpdate }) => sessionUpdate === 'current_mode_update');
      assert.deepEqual(
        modes.map(({ currentModeId }) => currentModeId),
        ['plan', 'build'],
      );
      const options = reader.updates().filter(({ sessionUpdate }) => sessionUpdate === 'config_option_update');
      assert.deepEqual(
        options.map(({ configOptions: all }) => (all as unknown[]).length),
        [4, 4],
        'complete',
      );
    }
  });
}
