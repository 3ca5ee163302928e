/** Coming back to a Session: `session/load` shows everything again, `session/resume` nothing. */
import type { Client } from '../client.ts';
import { expect, isObject, type Requirement, restingOn, show, skip } from '../requirement.ts';
import { busyTurn, cancel, expectEnd, expectSilence, newSession, say, textOf, updates } from '../steps.ts';
import type { World } from '../world.ts';

const NEEDS = { needs: 'load' } as const;

export const load: Requirement[] = restingOn('PROMPT-001', [
  {
    ...NEEDS,
    id: 'LOAD-001',
    level: 'MUST',
    title: 'a Session is loaded',
    cases: ['C041'],
    async run(world) {
      const { client, sessionId } = await told(world);
      const { result, error } = await reload(world, client, sessionId);
      expect(error === undefined && result !== undefined, `session/load was answered with ${show(error)}`);
    },
  },
  ...restingOn('LOAD-001', [
    {
      ...NEEDS,
      id: 'LOAD-002',
      level: 'MUST',
      title: 'everything is replayed before session/load is answered, and nothing after it',
      cases: ['C041'],
      restsOn: ['EXT-001'],
      async run(world) {
        const { client, sessionId } = await told(world);
        const { at, start } = await reload(world, client, sessionId);
        await expectSilence(client, sessionId, at);
        expect(updates(client, sessionId, start, at).length > 0, 'nothing was replayed');
      },
    },
    {
      ...NEEDS,
      id: 'LOAD-003',
      level: 'SHOULD',
      title: 'the answer to session/load is an object',
      cases: ['C046'],
      async run(world) {
        const { client, sessionId } = await told(world);
        const { result } = await reload(world, client, sessionId);
        expect(isObject(result), `the answer is ${show(result)}`);
      },
    },
    {
      ...NEEDS,
      id: 'C042',
      level: 'MUST',
      title: 'the replay holds what was said and done, in its order',
      restsOn: ['EXT-001'],
      async run(world) {
        const { client, sessionId, start, prompt } = await told(world, world.prompts.tool);
        const before = outline(client, sessionId, start);
        const from = (await reload(world, client, sessionId)).start;
        await client.fence();
        const replayed = updates(client, sessionId, from);
        expect(textOf(replayed, 'user_message_chunk').includes(prompt), 'the prompt is not replayed');
        const after = outline(client, sessionId, from);
        expect(after === before, `it said and did ${show(before)}, and replays ${show(after)}`);
      },
    },
    {
      ...NEEDS,
      id: 'C047',
      level: 'MAY',
      title: 'loaded twice, it is replayed twice and heard once',
      restsOn: ['LOAD-002'],
      async run(world) {
        const { client, sessionId } = await told(world);
        await reload(world, client, sessionId);
        const again = await reload(world, client, sessionId);
        expect(updates(client, sessionId, again.start, again.at).length > 0, 'nothing was replayed the second time');
        const { start } = await say(client, sessionId, world.prompts.text);
        const heard = updates(client, sessionId, start).map((update) => JSON.stringify(update));
        const isTwice = (one: string) => heard.filter((other) => other === one).length % 2 === 0;
        expect(heard.length === 0 || !heard.every(isTwice), 'the answer is heard twice');
      },
    },
    {
      ...NEEDS,
      id: 'C048',
      level: 'MAY',
      title: 'a Session is loaded while a Turn runs in it',
      restsOn: ['CANCEL-001'],
      async run(world) {
        const client = await world.agent();
        const { sessionId } = await newSession(world, client);
        const turn = await busyTurn(world, client, sessionId);
        const { error } = await reload(world, client, sessionId);
        const reason = await cancel(client, turn);
        expect(error === undefined, `session/load while a Turn runs: ${show(error)}`);
        expect(reason === 'cancelled', `the Turn was cancelled and ended with ${show(reason)}`);
      },
    },
    {
      ...NEEDS,
      id: 'C050',
      level: 'MUST',
      title: 'after a load the next prompt is answered',
      async run(world) {
        const { client, sessionId } = await told(world);
        await reload(world, client, sessionId);
        await expectEnd(await say(client, sessionId, world.prompts.text));
      },
    },
    {
      ...NEEDS,
      id: 'C049',
      level: 'MAY',
      title: 'a Session outlives its process or connection, and is replayed as it was',
      cases: ['C050', 'C096'],
      restsOn: ['EXT-001'],
      async run(world) {
        const { client, sessionId, start } = await told(world, world.prompts.tool);
        const before = outline(client, sessionId, start);
        await world.leave();
        const next = await world.agent();
        const { error } = await reload(world, next, sessionId);
        expect(error === undefined, `the next process does not know it: ${show(error)}`);
        await next.fence();
        const after = outline(next, sessionId, 0);
        expect(after === before, `it said and did ${show(before)}, and replays ${show(after)}`);
        await expectEnd(await say(next, sessionId, world.prompts.text));
      },
    },
  ]),
  {
    id: 'RESUME-001',
    level: 'MUST',
    title: 'a Session is resumed, without a list of MCP servers too',
    cases: ['C043'],
    needs: 'resume',
    async run(world) {
      const { client, sessionId } = await told(world);
      const { error } = await client.request('session/resume', { sessionId, cwd: world.cwd });
      expect(error === undefined, `session/resume was answered with ${show(error)}`);
    },
  },
  {
    id: 'RESUME-002',
    level: 'MUST',
    title: 'session/resume replays nothing',
    cases: ['C043', 'C098'],
    needs: 'resume',
    restsOn: ['RESUME-001', 'EXT-001'],
    async run(world) {
      const { client, sessionId } = await told(world);
      const start = client.frames.length;
      await client.request('session/resume', { sessionId, cwd: world.cwd });
      await expectSilence(client, sessionId, start);
    },
  },
]);

/** A Session in which something was said. */
async function told(world: World, prompt = world.prompts.text) {
  const client = await world.agent();
  const { sessionId } = await newSession(world, client);
  const { start, answer } = await say(client, sessionId, prompt);
  if ((await answer).error) skip('its prompt failed (PROMPT-001)');
  return { client, sessionId, start, prompt };
}

async function reload({ cwd }: World, client: Client, sessionId: string) {
  const start = client.frames.length;
  return { start, ...(await client.request('session/load', { sessionId, cwd, mcpServers: [] })) };
}

/** Text and tool calls as a person sees them in the end, without thoughts, however the text was cut and spaced. */
function outline(client: Client, sessionId: string, from: number): string {
  const parts: string[] = [];
  const calls = new Map<unknown, number>();
  let isText = false;
  for (const { sessionUpdate, toolCallId, status, content } of updates(client, sessionId, from)) {
    const said =
      sessionUpdate === 'agent_message_chunk' ? String((content as { text?: unknown })?.text ?? '') : undefined;
    if (said !== undefined) {
      if (isText) parts[parts.length - 1] += said;
      else parts.push(said);
    } else if (toolCallId !== undefined) {
      const at = calls.get(toolCallId) ?? parts.push('') - 1;
      calls.set(toolCallId, at);
      if (status !== undefined || parts[at] === '') parts[at] = `[${toolCallId} ${status ?? 'pending'}]`;
    } else continue;
    isText = said !== undefined;
  }
  return parts.join(' ').replace(/\s+/g, ' ').trim();
}
