/** Skills over the wire: real directories, a scripted model. */
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Event } from '../../src/core/event.ts';
import type { ProviderRequest } from '../../src/core/provider.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { createSkill } from '../../src/tools/skill.ts';
import { createSkillFinder } from '../../src/tools/skill-files.ts';
import type { WireClient } from '../support/wire-client.ts';
import { type World, world } from '../support/world.ts';

const findSkills = createSkillFinder();
const taking = (...args: object[]) => [...args.map((arg, n) => call(`c${n}`, 'skill', { ...arg })), finish()];

async function put({ dir }: World, directory: string, name: string, body: string, more = ''): Promise<void> {
  const at = join(dir, '.agents/skills', directory);
  await mkdir(at, { recursive: true });
  await writeFile(join(at, 'SKILL.md'), `---\nname: ${name}\ndescription: For ${name}\n${more}---\n${body}\n`);
}

const withSkills = async (script: (string | ReturnType<typeof taking>)[]) => {
  const steps = script.map((step) => (typeof step === 'string' ? [...say(step), finish()] : step));
  return world({ script: steps, findSkills, tools: [createSkill(findSkills)] });
};

const taken = (events: Event[]) => events.flatMap((event) => (event.type === 'skill_activation' ? [event.data] : []));
const shown = (request: ProviderRequest | undefined) =>
  (request?.history ?? []).map((item) => (item.type === 'user' ? `user ${JSON.stringify(item.content)}` : item.type));

async function commands(client: WireClient, sessionId: string): Promise<string[]> {
  const isOffer = (update: { sessionUpdate: string }) => update.sessionUpdate === 'available_commands_update';
  await client.update(isOffer);
  const offer = client.allUpdates(sessionId).findLast(isOffer) as { availableCommands?: { name: string }[] };
  return (offer.availableCommands ?? []).map(({ name }) => name);
}

test('[U11] [SKILL3] [SKILL4] what a prompt names is recorded before its message, and clients see nothing of it', async () => {
  await using w = await withSkills(['One.', 'Two.', 'Three.']);
  await put(w, 'a', 'sample', 'Say it in verse.');
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  const key = { pixir: { promptKey: 'k' } };
  await client.prompt(sessionId, 'Use $sample, $none and $sample again', key);
  assert.deepEqual((await w.types(sessionId)).slice(1, 4), ['turn_started', 'skill_activation', 'user_message']);
  const [activation, ...more] = taken(await w.events(sessionId));
  assert.deepEqual(more, []);
  const { turnId: _, contentHash, content, ...facts } = activation ?? assert.fail();
  const path = join(w.dir, '.agents/skills/a/SKILL.md');
  const expected = { name: 'sample', description: 'For sample', scope: 'workspace', path, activatedBy: 'user' };
  assert.deepEqual(facts, expected);
  assert.match(content, /Say it in verse\./);
  assert.match(contentHash, /^[0-9a-f]{64}$/);
  await rm(join(w.dir, '.agents'), { recursive: true });
  await client.prompt(sessionId, 'Use $sample, $none and $sample again', key);
  await client.prompt(sessionId, 'and $sample now?');
  const [first, second] = w.provider.requests.map(shown);
  assert.match(first?.[0] ?? '', /<skill name=\\"sample\\".*Say it in verse\./);
  assert.match(first?.[1] ?? '', /Use \$sample, \$none/);
  assert.deepEqual(second?.slice(0, 2), first, 'the file is gone, and what was recorded stays');
  assert.equal(taken(await w.events(sessionId)).length, 1, 'for its own Turn only');
  const loader = await w.client();
  await loader.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
  for (const { frames } of [client, loader]) assert.doesNotMatch(JSON.stringify(frames), /verse|skill_activation/);
  assert.equal(loader.text(), 'One.Two.');
});

test('[U12] [SKILL7] a skill that the model takes up follows its result; another file is only a result', async () => {
  const loads = taking({ name: 'sample' }, { name: 'sample', path: 'more.md' }, { name: 'mine' });
  await using w = await withSkills([loads, 'Done.', 'Again.']);
  await put(w, 'a', 'sample', 'Say it in verse.');
  await put(w, 'b', 'mine', 'For people.', 'disable-model-invocation: true\n');
  await writeFile(join(w.dir, '.agents/skills/a/more.md'), 'Rhyme, too.');
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  await client.prompt(sessionId, 'go');
  assert.deepEqual(
    taken(await w.events(sessionId)).map(({ name, activatedBy }) => [name, activatedBy]),
    [['sample', 'model']],
  );
  const calls = ['tool_call', 'tool_result', 'user', 'tool_call', 'tool_result', 'tool_call', 'tool_result'];
  const [, after] = w.provider.requests;
  assert.deepEqual(
    after?.history.map(({ type }) => type),
    ['user', ...calls],
  );
  assert.match(shown(after)[3] ?? '', /<skill .*Say it in verse\./);
  const results = (after?.history ?? []).flatMap((item) => (item.type === 'tool_result' ? [item.output] : []));
  assert.equal(results[1], 'Rhyme, too.');
  assert.match(results[2] ?? '', /permission_denied/);
  await using again = await w.restart();
  const later = await again.client();
  await later.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
  assert.doesNotMatch(JSON.stringify(later.frames), /in verse/);
});

test('[SKILL3] [SKILL5] commands come first, skills behind them, and a command wins over a skill of its name', async () => {
  await using w = await withSkills(['Planned.', 'Reviewed.', 'Ran.']);
  const client = await w.client();
  const bare = await client.newSession(w.dir);
  assert.deepEqual(await commands(client, bare), ['plan', 'build', 'compact', 'help']);
  await client.prompt(bare, '/help');
  assert.doesNotMatch(client.text(bare), /skill/);
  await put(w, 'p', 'plan', 'Another way to plan.');
  await put(w, 'r', 'review', 'Look.');
  await put(w, 'm', 'mine', 'For people.', 'disable-model-invocation: true\n');
  const sessionId = await client.newSession(w.dir);
  assert.deepEqual(await commands(client, sessionId), ['plan', 'build', 'compact', 'help', 'mine', 'review']);
  await client.prompt(sessionId, '/help $review');
  assert.match(client.text(sessionId), /`\$name` anywhere/);
  await client.prompt(sessionId, '/plan /review it');
  assert.deepEqual(taken(await w.events(sessionId)), []);
  await client.prompt(sessionId, '/review it with $plan');
  await client.prompt(sessionId, '/mine');
  const names = taken(await w.events(sessionId)).map(({ name }) => name);
  assert.deepEqual(names, ['review', 'plan', 'mine']);
  const [, reviewed] = w.provider.requests.map(shown);
  assert.match(reviewed?.at(-1) ?? '', /"\/review it with \$plan"/, 'the model reads what was said');
  const openings = { 'session/resume': {}, 'session/load': { mcpServers: [] }, 'session/fork': {} };
  for (const [method, more] of Object.entries(openings)) {
    const other = await w.client();
    const result = await other.request(method, { sessionId, cwd: w.dir, ...more });
    assert.equal((await commands(other, String(result.sessionId ?? sessionId))).length, 6, method);
  }
});

test('[SKILL6] the index is in the developer context of each Turn, and the system prompt is the same', async () => {
  await using w = await withSkills(['One.', 'Two.']);
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  await client.prompt(sessionId, 'before');
  await put(w, 'a', 'sample', 'Say it in verse.');
  await put(w, 'b', 'mine', 'For people.', 'disable-model-invocation: true\n');
  await client.prompt(sessionId, 'after');
  const [before, after] = w.provider.requests;
  assert.equal(before?.instructions, after?.instructions);
  assert.deepEqual(before?.tools, after?.tools);
  assert.doesNotMatch(before?.developerContext ?? '', /skill/i);
  assert.match(after?.developerContext ?? '', /\n- sample \("[^"]+SKILL\.md"\): "For sample"$/);
});

test('[SKILL4] [LIFE9] a fork has the skills that were taken up', async () => {
  await using w = await withSkills(['One.', 'Two.']);
  await put(w, 'a', 'sample', 'Say it in verse.');
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  await client.prompt(sessionId, '$sample');
  const made = await client.request('session/fork', { sessionId, cwd: w.dir, mcpServers: [] });
  await client.prompt(String(made.sessionId), 'go on');
  assert.match(shown(w.provider.requests[1])[0] ?? '', /Say it in verse/);
});
