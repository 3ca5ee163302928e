/** Which Sessions there are, and getting rid of them. */
import { isAbsolute, join } from 'node:path';
import type { Client } from '../client.ts';
import { expect, get, isObject, list as listOf, type Requirement, restingOn, show, skip } from '../requirement.ts';
import { busyTurn, expectEnd, expectError, newSession, say, startTurn, stopReason } from '../steps.ts';
import type { World } from '../world.ts';

export const list: Requirement[] = restingOn('PROMPT-001', [
  {
    id: 'LIST-001',
    level: 'MUST',
    title: 'session/list returns Sessions with absolute directories',
    cases: ['C051'],
    needs: 'list',
    async run(world) {
      const client = await world.agent();
      const { sessionId } = await used(world, client);
      const sessions = await pages(client, {});
      expect(
        sessions.some((session) => session.sessionId === sessionId),
        'a Session that was used is not listed',
      );
      for (const { cwd } of sessions) expect(isAbsolute(String(cwd)), `the directory ${show(cwd)} is not absolute`);
    },
  },
  {
    id: 'LIST-002',
    level: 'MUST',
    title: 'asked for one directory it lists the Sessions of that one, and none where there are none',
    cases: ['C051'],
    needs: 'list',
    async run(world) {
      const client = await world.agent();
      await used(world, client);
      const mine = await pages(client, { cwd: world.cwd });
      for (const { cwd } of mine) expect(cwd === world.cwd, `asked for ${world.cwd}, it lists ${show(cwd)}`);
      const none = await pages(client, { cwd: join(world.cwd, 'conformance-unused') });
      expect(none.length === 0, `${none.length} Sessions in a directory that nobody uses`);
    },
  },
  {
    id: 'C052',
    level: 'MUST',
    title: 'its pages hold each Session once',
    needs: 'list',
    async run(world) {
      const client = await world.agent();
      for (let n = 0; n < 3; n++) await used(world, client);
      const ids = (await pages(client, {})).map(({ sessionId }) => sessionId);
      expect(new Set(ids).size === ids.length, 'a Session is listed twice');
    },
  },
  {
    id: 'C052b',
    level: 'SHOULD',
    title: 'a bad cursor is -32602',
    needs: 'list',
    async run(world) {
      const client = await world.agent();
      expectError(await client.request('session/list', { cursor: 'conformance-nonsense' }), -32602, 'a bad cursor');
    },
  },
  {
    id: 'C053',
    level: 'MAY',
    title: 'the newest Session comes first, with its time in ISO 8601',
    needs: 'list',
    restsOn: ['C052'],
    async run(world) {
      const client = await world.agent();
      await used(world, client);
      const times = (await pages(client, {})).map(({ updatedAt }) => updatedAt);
      if (times.some((time) => typeof time !== 'string')) skip('its Sessions have no time');
      const stamps = times.map((time) => Date.parse(String(time)));
      expect(stamps.every(Number.isFinite), `a time that is none: ${show(times)}`);
      expect(
        stamps.every((stamp, n) => n === 0 || stamp <= Number(stamps[n - 1])),
        'the order is not newest first',
      );
    },
  },
  { id: 'CLOSE-001', level: 'MUST', title: 'a Session is closed', cases: ['C054'], needs: 'close', run: closes },
  {
    id: 'CLOSE-002',
    level: 'MUST',
    title: 'closed in mid-Turn: the prompt is cancelled, and other Sessions go on',
    cases: ['C054'],
    needs: 'close',
    restsOn: ['CLOSE-001', 'CANCEL-001', 'SESSION-002'],
    run: closesInMidTurn,
  },
  {
    id: 'DELETE-001',
    level: 'MUST',
    title: 'a deleted Session is listed no more',
    cases: ['C055'],
    needs: 'delete',
    async run(world) {
      const client = await world.agent();
      const { sessionId } = await used(world, client);
      const { error } = await client.request('session/delete', { sessionId });
      expect(error === undefined, `session/delete was answered with ${show(error)}`);
      if (!isObject(get(client.initialized, 'agentCapabilities.sessionCapabilities.list'))) return;
      const left = await pages(client, {});
      expect(!left.some((session) => session.sessionId === sessionId), 'it is still listed');
    },
  },
  {
    id: 'DELETE-002',
    level: 'SHOULD',
    title: 'deleting what is not there is no error',
    cases: ['C055', 'C044'],
    needs: 'delete',
    async run(world) {
      const client = await world.agent();
      const { sessionId } = await newSession(world, client);
      for (const id of [sessionId, sessionId, 'conformance-nobody']) {
        const { error } = await client.request('session/delete', { sessionId: id });
        expect(error === undefined, `session/delete was answered with ${show(error)}`);
      }
    },
  },
]);

/** A Session that an agent may find worth listing: something was said in it. */
async function used(world: World, client: Client) {
  const session = await newSession(world, client);
  await expectEnd(await say(client, session.sessionId, world.prompts.text));
  return session;
}

/** Every Session of every page. */
async function pages(client: Client, params: object): Promise<Record<string, unknown>[]> {
  const sessions: Record<string, unknown>[] = [];
  const cursors = new Set<unknown>();
  for (let cursor: unknown; !cursors.has(cursor); ) {
    cursors.add(cursor);
    const { result, error } = await client.request(
      'session/list',
      cursor === undefined ? params : { ...params, cursor },
    );
    expect(Array.isArray(get(result, 'sessions')), `session/list was answered with ${show(error ?? result)}`);
    sessions.push(...listOf(get(result, 'sessions')).filter(isObject));
    cursor = get(result, 'nextCursor') ?? undefined;
    expect(cursor === undefined || !cursors.has(cursor), 'the same page comes again');
  }
  return sessions;
}

async function closes(world: World): Promise<void> {
  const client = await world.agent();
  const { sessionId } = await newSession(world, client);
  const { error } = await client.request('session/close', { sessionId });
  expect(error === undefined, `session/close was answered with ${show(error)}`);
}

async function closesInMidTurn(world: World): Promise<void> {
  const client = await world.agent();
  const [one, other] = [await newSession(world, client), await newSession(world, client)];
  const turn = await busyTurn(world, client, one.sessionId);
  const next = startTurn(client, other.sessionId, world.prompts.text);
  const { error } = await client.request('session/close', { sessionId: one.sessionId });
  expect(error === undefined, `session/close was answered with ${show(error)}`);
  const reason = stopReason(await turn.answer);
  expect(reason === 'cancelled', `the prompt ended with ${show(reason)}`);
  await expectEnd(next);
}
