import assert from 'node:assert/strict';
import { mkdir, symlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { rootsOf } from '../../../src/core/roots.ts';
import { defineTool } from '../../../src/core/tool.ts';
import { call, finish, say } from '../../../src/providers/script.ts';
import type { WireClient } from '../../support/wire-client.ts';
import type { World } from '../../support/world.ts';
import { type On, rejects } from './stage.ts';

/** Says where it may work. */
const where = defineTool({
  name: 'where',
  description: 'Test tool where.',
  kind: 'read',
  schema: z.strictObject({}),
  effect: () => 'read',
  title: () => 'where',
  locations: (_args, roots) => rootsOf(roots).map((path) => ({ path })),
  run: async (_args, context) => ({ ok: true, output: rootsOf(context).join() }),
  dryRun: async () => ({ ok: true, output: 'would say where' }),
});

const asksWhere = [
  [{ type: 'wait' as const, gate: 'go' }, call('c1', 'where', {}), finish()],
  [...say('There.'), finish()],
];

/** A workspace and, beside it, directories that may be added. */
async function grounds({ dir }: World) {
  const [cwd, one, two] = ['work', 'one', 'two'].map((name) => join(dir, name)) as [string, string, string];
  for (const path of [join(cwd, 'inner'), join(one, 'inner'), two]) await mkdir(path, { recursive: true });
  return { cwd, one, two };
}

const request = async (client: WireClient, method: string, params: Record<string, unknown>) =>
  String((await client.request(method, { mcpServers: [], ...params })).sessionId);

async function listed(client: WireClient, sessionId: string): Promise<unknown> {
  const { sessions } = await client.request('session/list', {});
  return (sessions as { sessionId: string }[]).find((row) => row.sessionId === sessionId);
}

const addedOf = async (client: WireClient, sessionId: string) =>
  (await listed(client, sessionId)) as { additionalDirectories?: string[] };

export function roots(on: On): void {
  on('[ROOT1] the directories are those of the last request that opens a Session', {}, async (stage) => {
    const { w, client, another } = stage;
    const { cwd, one, two } = await grounds(w);
    const sessionId = await request(client, 'session/new', { cwd, additionalDirectories: [one] });
    const [first] = await w.events(sessionId);
    assert.ok(first?.type === 'session_created');
    assert.deepEqual(first.data.additionalDirectories, [one]);
    const other = await another();
    await other.request('_pixir/session/attach', { sessionId });
    assert.deepEqual((await addedOf(other, sessionId)).additionalDirectories, [one], 'attach leaves them');
    for (const additionalDirectories of [
      [two, one],
      [two, one],
    ])
      await request(other, 'session/load', { sessionId, cwd, additionalDirectories });
    assert.deepEqual((await addedOf(client, sessionId)).additionalDirectories, [two, one]);
    const fork = await request(client, 'session/fork', { sessionId, cwd, additionalDirectories: [two] });
    assert.deepEqual((await addedOf(client, fork)).additionalDirectories, [two]);
    const bare = await request(client, 'session/fork', { sessionId, cwd });
    assert.ok(!('additionalDirectories' in (await addedOf(client, bare))), 'a fork has its own list');
    await request(client, 'session/resume', { sessionId, cwd, additionalDirectories: null });
    assert.ok(!('additionalDirectories' in (await addedOf(client, sessionId))), 'none listed is none');
    const changes = (await w.events(sessionId)).slice(1).map(({ data }) => data);
    assert.deepEqual(
      changes,
      [[two, one], []].map((additionalDirectories) => ({ additionalDirectories, by: 'local' })),
      'the same list again is no change',
    );
    assert.deepEqual([...client.updates(), ...other.updates()], [], 'it is no option');
    await request(client, 'session/load', { sessionId, cwd, additionalDirectories: [one] });
    const later = await (await w.restart()).client();
    assert.deepEqual((await addedOf(later, sessionId)).additionalDirectories, [one]);
    await request(later, 'session/load', { sessionId, cwd });
    assert.ok(!('additionalDirectories' in (await addedOf(later, sessionId))));
  });

  on('[ROOT2] only directories that are there, by their real paths, each once', {}, async (stage) => {
    const { w, client, another } = stage;
    const { cwd, one, two } = await grounds(w);
    await symlink(one, join(w.dir, 'link'));
    const messy = [`${two}/../one/inner`, join(w.dir, 'link'), one, two, join(cwd, 'inner'), cwd, `${one}/`];
    const sessionId = await request(client, 'session/new', { cwd, additionalDirectories: messy });
    assert.deepEqual((await addedOf(client, sessionId)).additionalDirectories, [one, two]);
    const before = await w.types(sessionId);
    const elsewhere = await client.newSession(cwd);
    for (const additionalDirectories of [
      ['one'],
      [''],
      [relative('.', one)],
      [one, './two'],
      ['~'],
      [7],
      [null],
      one,
      { 0: one },
      [one, join(w.dir, 'missing')],
      Array.from({ length: 17 }, () => one),
    ]) {
      const params = { cwd, mcpServers: [], additionalDirectories };
      await rejects(client.request('session/new', params), -32602);
      for (const method of ['session/load', 'session/resume', 'session/fork'])
        await rejects(client.request(method, { sessionId, ...params }), -32602);
    }
    assert.deepEqual(await w.types(sessionId), before, 'nothing was changed');
    const { sessions } = await client.request('session/list', {});
    assert.deepEqual(
      new Set((sessions as { sessionId: string }[]).map((row) => row.sessionId)),
      new Set([sessionId, elsewhere]),
    );
    await (await another()).request('session/set_mode', { sessionId, modeId: 'plan' });
    await client.update(({ sessionUpdate }) => sessionUpdate === 'current_mode_update');
  });

  on(
    '[ROOT4] a Turn keeps what it started with; the next has what was set',
    { tools: [where], script: [...asksWhere, ...asksWhere] },
    async (stage) => {
      const { w, client, another } = stage;
      const { cwd, one, two } = await grounds(w);
      const sessionId = await request(client, 'session/new', { cwd, additionalDirectories: [one] });
      const prompt = client.prompt(sessionId, 'where?');
      const other = await another();
      await request(other, 'session/resume', { sessionId, cwd, additionalDirectories: [two] });
      w.provider.open('go');
      await prompt;
      await client.prompt(sessionId, 'and now?');
      const events = await w.events(sessionId);
      const said = events.flatMap(({ type, data }) => (type === 'tool_result' ? [data.output] : []));
      assert.deepEqual(said, [`${cwd},${one}`, `${cwd},${two}`]);
      const shown = events.flatMap(({ type, data }) => (type === 'tool_call' ? [data.locations] : []));
      assert.deepEqual(
        shown,
        [one, two].map((path) => [{ path: cwd }, { path }]),
      );
      const told = w.provider.requests.map(({ developerContext }) => developerContext);
      for (const [n, path] of [one, one, two, two].entries())
        assert.match(told[n] ?? '', new RegExp(`directories.*: \\["${path}"\\]\\.$`));
      assert.equal(new Set(w.provider.requests.map(({ instructions }) => instructions)).size, 1);
    },
  );

  on(
    '[ROOT7] a link to a file may lead into any root',
    { script: [[...say('Seen.'), finish()]] },
    async ({ w, client }) => {
      const { cwd, one, two } = await grounds(w);
      const sessionId = await request(client, 'session/new', { cwd, additionalDirectories: [one] });
      const link = (path: string) => {
        const prompt = [{ type: 'resource_link', uri: `file://${path}/a.ts`, name: 'a.ts' }];
        return client.request('session/prompt', { sessionId, prompt });
      };
      await rejects(link(two), -32602);
      assert.deepEqual(await link(one), { stopReason: 'end_turn' });
      await request(client, 'session/resume', { sessionId, cwd });
      await rejects(link(one), -32602);
    },
  );
}
