/** Who may add which directories to a Session, and for which Turn they hold. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { createWorkspaces } from '../../src/cli/workspaces.ts';
import { attach, awaitTurn, send } from '../../src/core/conversation.ts';
import { fork, list, setDirectories, start } from '../../src/core/lifecycle.ts';
import { isWithin, LOCAL, type Principal } from '../../src/core/principal.ts';
import { developerContext } from '../../src/core/prompt.ts';
import { directoriesFor } from '../../src/core/reach.ts';
import { distinctRoots } from '../../src/core/roots.ts';
import { finish, say } from '../../src/providers/script.ts';
import { sendText } from '../support/send.ts';
import { type World, world } from '../support/world.ts';

async function grounds({ dir }: World) {
  const [cwd, one, two] = ['work', 'one', 'two'].map((name) => join(dir, name)) as [string, string, string];
  for (const path of [cwd, one, two]) await mkdir(path);
  return { cwd, one, two };
}

test('[ROOT2] each place is in one root, and no place is lost', () => {
  const path = fc.array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 4 }).map((names) => `/${names.join('/')}`);
  fc.assert(
    fc.property(path, fc.array(path, { maxLength: 6 }), (workspace, directories) => {
      const kept = distinctRoots(workspace, directories);
      for (const directory of directories)
        assert.equal(
          [workspace, ...kept].some((root) => isWithin(root, directory)),
          true,
        );
      for (const directory of kept)
        assert.deepEqual(
          [workspace, ...kept].filter((root) => isWithin(root, directory)),
          [directory],
        );
    }),
  );
});

test('[ROOT2] only what the operator and the credential allow, and a refusal tells nothing of the rest', async () => {
  await using w = await world();
  const { cwd, one, two } = await grounds(w);
  await writeFile(join(one, 'file'), '');
  const runtime = { ...w.runtime, ...createWorkspaces([cwd, one], cwd) };
  const found = (path: string, principal: Principal = LOCAL) => directoriesFor(runtime, principal, cwd, [cwd, path]);
  assert.deepEqual(await found(one), [one]);
  const bound = { ...LOCAL, workspaces: [cwd] };
  const refused: [string, Principal?][] = [[two], [join(one, 'file')], [join(one, 'missing')], ['/']];
  const boundTo = (path: string): [string, Principal] => [path, bound];
  for (const args of [...refused, ...[one, two, join(two, 'missing')].map(boundTo)])
    await assert.rejects(found(...args), {
      code: 'invalid_params',
      message: 'not a directory that may be added',
      details: { field: 'additionalDirectories.1' },
    });
  await assert.rejects(start(runtime, bound, { workspace: cwd, additionalDirectories: [one] }));
  assert.equal(await w.log.count(), 0);
});

test('[ROOT3] a Session with a root that a credential does not reach is unknown to it, however it came by the root', async () => {
  await using w = await world({ script: [[...say('Hello.'), finish()]] });
  const { cwd, one } = await grounds(w);
  const bound: Principal = { ...LOCAL, name: 'bound', workspaces: [cwd] };
  const { id } = await start(w.runtime, LOCAL, { workspace: cwd, additionalDirectories: [one] });
  const content = [{ type: 'text' as const, text: 'hello' }];
  const sent = () => send(w.runtime, bound, { sessionId: id, turnId: 't1', messageId: 'usr_1', content });
  const isUnknown = async () => {
    await assert.rejects(sent(), { code: 'unknown_session' });
    await assert.rejects(fork(w.runtime, bound, { sessionId: id, workspace: cwd }), { code: 'unknown_session' });
    assert.deepEqual(await list(w.runtime, bound, { limit: 9 }), []);
  };
  await isUnknown();
  await setDirectories(w.runtime, LOCAL, id, []);
  await (await sent()).done;
  assert.equal((await list(w.runtime, bound, { limit: 9 })).length, 1);
  await setDirectories(w.runtime, LOCAL, id, [one]);
  await isUnknown();
});

test('[ROOT3] who is attached and does not reach a root that is added hears nothing more', async () => {
  await using w = await world({
    script: [
      [...say('Before.'), finish()],
      [...say('Of one.'), finish()],
    ],
  });
  const { cwd, one } = await grounds(w);
  const bound = await w.client({ ...LOCAL, name: 'bound', workspaces: [cwd] });
  const free = await w.client();
  const sessionId = await bound.newSession(cwd);
  await free.request('session/resume', { sessionId, cwd });
  await bound.prompt(sessionId, 'hello');
  await free.request('session/resume', { sessionId, cwd, additionalDirectories: [one] });
  await free.prompt(sessionId, 'look at one');
  await assert.rejects(bound.prompt(sessionId, 'still there?'), { code: -32002 });
  assert.deepEqual([bound.text(), free.text()], ['Before.', 'Before.Of one.']);
});

test('[ROOT3] who may only watch opens a Session and changes nothing of it', async () => {
  await using w = await world();
  const { cwd, one, two } = await grounds(w);
  const { id: sessionId } = await start(w.runtime, LOCAL, { workspace: cwd, additionalDirectories: [one] });
  const watcher = await w.client({ ...LOCAL, name: 'watcher', scopes: ['observe'] });
  for (const additionalDirectories of [undefined, [], [two], [join(two, 'missing')]])
    for (const method of ['session/load', 'session/resume'])
      await watcher.request(method, { sessionId, cwd, mcpServers: [], additionalDirectories });
  assert.deepEqual(await w.types(sessionId), ['session_created']);
  await assert.rejects(setDirectories(w.runtime, { ...LOCAL, scopes: ['observe'] }, sessionId, []), {
    code: 'forbidden',
  });
});

test('[ROOT4] a Turn that a crash cut goes on with what it started with', async () => {
  const half = [{ type: 'delta' as const, kind: 'message' as const, text: 'Half' }, { type: 'hang' as const }];
  await using w = await world({ script: [half], settings: { recovery: 'resume' } });
  const { cwd, one, two } = await grounds(w);
  const { id } = await start(w.runtime, LOCAL, { workspace: cwd, additionalDirectories: [one] });
  const begun = Promise.withResolvers<void>();
  const watch = await attach(w.runtime, LOCAL, id, ({ type }) => type === 'delta' && begun.resolve());
  await sendText(w, id, 'go');
  await begun.promise;
  watch.stop();
  await setDirectories(w.runtime, LOCAL, id, [two]);
  const script = [
    [...say('The rest.'), finish()],
    [...say('Next.'), finish()],
  ];
  await using next = await w.restart({ script });
  await awaitTurn(next.runtime, LOCAL, id);
  await (await sendText(next, id, 'and now?', { turnId: 't2' })).done;
  const told = next.provider.requests.map(({ developerContext }) => developerContext);
  assert.deepEqual(
    told.map((text) => [text.includes(one), text.includes(two)]),
    [
      [true, false],
      [false, true],
    ],
  );
});

test('[ROOT4] the model is told of further roots where there are any, each quoted', () => {
  const told = (additionalDirectories: string[]) =>
    developerContext({ workspace: '/w', additionalDirectories }, 'build', 'auto').split('\n');
  assert.equal(told([]).length, 1);
  const [, line = ''] = told(['/a\n- forged', '/b']);
  assert.ok(told(['/a\n- forged', '/b']).length === 2 && line.endsWith(': ["/a\\n- forged","/b"].'), line);
});
