/** The Log as a client may see and check it, over a real SQLite file, and what a call of a tool says of itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { parseEvent } from '../../src/core/event.ts';
import { chainCheck, FIRST_CHK } from '../../src/core/log.ts';
import { defineTool } from '../../src/core/tool.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { sqliteFixture } from '../store/sqlite-support.ts';
import { created, said } from '../store/support.ts';
import { TEST_TOOLS } from '../support/tools.ts';
import type { WireClient } from '../support/wire-client.ts';
import { type World, world } from '../support/world.ts';

type Logged = { seq: number; id: string; type: string; ts: string; size: number; chk: string } & Record<
  string,
  unknown
>;
type Page = { events: Logged[]; before: number | null; epoch: string };

const script = [
  [call('c1', 'note', { text: 'ä' }), finish()],
  [...say('Done.'), finish()],
];

/** A Session with a finished Turn. */
async function finished(w: World) {
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  await client.prompt(sessionId, 'grüße');
  const read = async (params: object) =>
    (await client.request('_pixir/session/log', { sessionId, ...params })) as unknown as Page;
  const verify = () => client.request('_pixir/session/verify', { sessionId });
  return { client, sessionId, read, verify, events: await w.events(sessionId) };
}

async function readAll(read: (params: object) => Promise<Page>, params: object): Promise<Logged[]> {
  const pages: Logged[][] = [];
  for (let before: number | null | undefined; before !== null; ) {
    const page: Page = await read(before === undefined ? params : { ...params, before });
    pages.unshift(page.events);
    before = page.before;
  }
  return pages.flat();
}

test('[TL1] read backwards in pages of any length, each Event is there once, with what its record says', async () => {
  await using fixture = await sqliteFixture();
  await using w = await world({ script, log: fixture.log });
  const { sessionId, read, events } = await finished(w);
  for (const limit of [1, 3, events.length, 500]) {
    const logged = await readAll(read, { limit });
    assert.deepEqual(
      logged.map(({ seq, id, type, ts }) => ({ seq, id, type, ts })),
      events.map(({ seq, id, type, ts }) => ({ seq, id, type, ts })),
    );
    assert.ok(logged.every((line) => !('event' in line)));
  }
  const full = await readAll(read, { limit: 2, full: true });
  assert.deepEqual(
    full.map(({ event }) => event),
    events,
  );
  let chk = FIRST_CHK;
  for (const { id, chk: told, size, event, type, by, turnId } of full) {
    const json = JSON.stringify(event);
    chk = chainCheck(chk, id, json);
    assert.deepEqual([told, size], [chk, Buffer.byteLength(json)], type);
    assert.equal(
      by,
      ['session_created', 'user_message'].includes(type) ? 'local' : type === 'session_titled' ? 'runtime' : undefined,
    );
    assert.equal(turnId !== undefined, !type.startsWith('session_'), type);
  }
  assert.equal((await read({ limit: 1 })).epoch, (await w.log.session(sessionId))?.head.epoch);
});

test('[TL1] the ends, and what is no place in the Log', async () => {
  await using w = await world({ script });
  const { client, sessionId, read, events } = await finished(w);
  assert.deepEqual(
    [(await read({ limit: 9, before: 0 })).events, (await read({ limit: 9, before: 0 })).before],
    [[], null],
  );
  assert.deepEqual(await read({ limit: 9, before: 2 ** 50 }), await read({ limit: 9 }));
  const second = await read({ limit: 1, before: 2 });
  assert.deepEqual([second.events.map(({ seq }) => seq), second.before], [[1], 1]);
  assert.equal(events.at(-1)?.seq, (await read({ limit: 1 })).events[0]?.seq);
  for (const bad of [
    {},
    { limit: 0 },
    { limit: 501 },
    { limit: 1, before: -1 },
    { limit: 1, before: 1.5 },
    { limit: 1, full: 1 },
  ])
    await assert.rejects(client.request('_pixir/session/log', { sessionId, ...bad }), { code: -32602 });
});

test('[TL1] a page of whole Events holds 1 MiB at most, one that is larger is only named, and all can be reached', async () => {
  await using w = await world();
  const { client, sessionId, read } = await finished(w);
  const huge = 'x'.repeat(1_100_000);
  for (const text of ['a'.repeat(600_000), 'b'.repeat(400_000), huge, 'ä'.repeat(300_000), 'end'])
    await w.log.append([said(sessionId, text)]);
  const events = await w.events(sessionId);
  const sizes: number[] = [];
  const pages = async (params: object) => {
    const page = await read(params);
    sizes.push(page.events.reduce((sum, { event, size }) => sum + (event ? size : 0), 0));
    return page;
  };
  const logged = await readAll(pages, { limit: 500, full: true });
  assert.ok(sizes.length === 3 && sizes.every((size) => size <= 1024 * 1024), sizes.join());
  assert.deepEqual(
    logged.map(({ seq }) => seq),
    events.map(({ seq }) => seq),
  );
  assert.deepEqual(
    logged.filter(({ event }) => event === undefined).map(({ size }) => size > huge.length),
    [true],
  );
  assert.equal((await client.request('_pixir/session/log', { sessionId, limit: 500 })).before, null, 'lines are short');
});

test('[TL2] a Log that is what was recorded is sound; one that was changed is not, and it is told where', async () => {
  await using fixture = await sqliteFixture();
  await using w = await world({ script, log: fixture.log });
  const { sessionId, verify, events, client } = await finished(w);
  const sound = { ok: true, events: events.length, chk: (await w.log.session(sessionId))?.head.chk };
  assert.deepEqual(await verify(), sound);
  for (const [damage, seq, reason] of [
    [
      `UPDATE events SET json = replace(json, 'Done.', 'Gone.')`,
      events.findIndex(({ type }) => type === 'assistant_message'),
      /check value/,
    ],
    ['DELETE FROM events WHERE seq = 3', 3, /missing/],
    ["UPDATE events SET json = '{' WHERE seq = 2", 2, /valid/],
    ["UPDATE sessions SET title = 'another'", events.length - 1, /title/],
    ['INSERT INTO events SELECT session_id, -1, json, chk FROM events WHERE seq = 0', 0, /missing/],
  ] as const) {
    fixture.db.exec(`SAVEPOINT damage; ${damage}`);
    const found = await verify();
    fixture.db.exec('ROLLBACK TO damage; RELEASE damage');
    const { ok, firstBad } = found as { ok: boolean; firstBad?: { seq: number; reason: string } };
    assert.deepEqual([ok, firstBad?.seq], [false, seq], damage);
    assert.match(firstBad?.reason ?? '', reason);
  }
  fixture.db.exec("UPDATE events SET json = '{' WHERE seq = 2");
  const corrupt = { code: -32603, data: { reason: 'log_corrupt' } };
  await assert.rejects(client.request('_pixir/session/log', { sessionId, limit: 500 }), corrupt);
  fixture.db.exec(`DELETE FROM events; DELETE FROM sessions`);
  await assert.rejects(verify(), { code: -32002 });
});

test('[TL2] so it is with a Log in memory', async () => {
  await using w = await world({ script });
  const { sessionId, verify, events } = await finished(w);
  assert.deepEqual(await verify(), {
    ok: true,
    events: events.length,
    chk: (await w.log.session(sessionId))?.head.chk,
  });
});

const long = Array.from({ length: 20_000 }, (_, index) => said('long', `${index} ${'x'.repeat(200)}`));

/** A connection whose Session `long` has 20,000 Events: to check them takes many slices on any machine. */
async function longSession(w: World): Promise<WireClient> {
  await w.log.append([created('long', 'local', w.dir), ...long]);
  return await w.client();
}

test('[TL3] while a long Log is checked others go on, it may grow, and a second request shares the result', async () => {
  await using fixture = await sqliteFixture();
  await using w = await world({ log: fixture.log });
  const client = await longSession(w);
  let turns = 0;
  let running = true;
  const count = () => {
    turns++;
    if (running) setImmediate(count);
  };
  count();
  const first = client.request('_pixir/session/verify', { sessionId: 'long' });
  await new Promise(setImmediate);
  const [grown] = await w.log.append([said('long', 'more')]);
  const verdicts = await Promise.all([first, client.request('_pixir/session/verify', { sessionId: 'long' })]);
  running = false;
  const sound = { ok: true, events: long.length + 2, chk: grown?.chk };
  assert.deepEqual(verdicts, [sound, sound]);
  assert.ok(turns > 8, `${turns} turns of the event loop`);
});

test('[TL3] a check ends with its last request', async () => {
  await using fixture = await sqliteFixture();
  await using w = await world({ log: fixture.log });
  const client = await longSession(w);
  const checking = client.request('_pixir/session/verify', { sessionId: 'long' }, 901);
  client.notify('$/cancel_request', { requestId: 901 });
  await assert.rejects(checking, { code: -32800 });
  assert.equal((await client.request('_pixir/session/verify', { sessionId: 'long' })).ok, true);
});

test('[TL4] a result says how long its tool ran and how its process ended, and both updates when', async () => {
  const slow = (name: string, run: () => { ok: boolean; output: string; exitCode?: number | null }) =>
    defineTool({
      name,
      description: '',
      kind: 'execute',
      schema: z.strictObject({}),
      effect: () => 'read',
      title: () => name,
      run: async () => {
        w.clock.advance(1_500);
        return run();
      },
      dryRun: async () => ({ ok: true, output: '' }),
    });
  const tools = [
    ...TEST_TOOLS,
    slow('exits', () => ({ ok: false, output: '', exitCode: 3 })),
    slow('killed', () => ({ ok: false, output: '', exitCode: null })),
    slow('back', () => {
      w.clock.advance(-9_000);
      return { ok: true, output: '' };
    }),
  ];
  const names = ['exits', 'killed', 'back', 'note', 'boom', 'nobody'];
  const calls = names.map((name) => call(`c_${name}`, name, {}));
  await using w = await world({
    tools,
    script: [
      [...calls, finish()],
      [...say('Done.'), finish()],
    ],
  });
  const { client, sessionId } = await finished(w);
  const events = await w.events(sessionId);
  const meta = (name: string, sessionUpdate: string) =>
    client.updates().find((update) => update.toolCallId === `c_${name}` && update.sessionUpdate === sessionUpdate)
      ?._meta;
  const ts = (name: string, type: string) =>
    events.find((event) => event.type === type && 'callId' in event.data && event.data.callId === `c_${name}`)?.ts;
  const told: Record<string, object> = {
    exits: { durationMs: 1_500, exitCode: 3 },
    killed: { durationMs: 1_500, exitCode: null },
    back: { durationMs: 0 },
    note: { durationMs: 0 },
    boom: { durationMs: 0 },
    nobody: {},
  };
  for (const [name, took] of Object.entries(told)) {
    assert.deepEqual(meta(name, 'tool_call'), { pixir: { at: ts(name, 'tool_call') } });
    assert.deepEqual(meta(name, 'tool_call_update'), { pixir: { at: ts(name, 'tool_result'), ...took } }, name);
  }
  assert.ok(!JSON.stringify(w.provider.requests).includes('durationMs'), 'the model is not told');
  // A result from before there were these.
  const [result] = events.filter(({ type }) => type === 'tool_result');
  assert.ok(result?.type === 'tool_result');
  const { durationMs: _, exitCode: __, ...data } = result.data;
  assert.deepEqual(parseEvent({ ...result, data }), { ...result, data });
});
