/** What an agent asks before it acts, and what it does with the answer. */
import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../client.ts';
import { expect, get, isObject, list, type Requirement, restingOn, show, skip } from '../requirement.ts';
import { askingTurn, expectEnd, hasEnded, newSession, type Turn, updates } from '../steps.ts';
import { allow, reject, type World } from '../world.ts';

export const permission: Requirement[] = restingOn('PROMPT-001', [
  {
    id: 'C082',
    level: 'MUST',
    title: 'a permission request has options, and names a tool call that was reported',
    observe(clients) {
      let asked = false;
      for (const client of clients) {
        const reported = new Set<unknown>();
        for (const { message } of client.said) {
          reported.add(get(message?.params, 'update.toolCallId'));
          if (message?.method !== 'session/request_permission') continue;
          asked = true;
          expect(
            list(get(message.params, 'options')).length > 0,
            `a permission request without options: ${show(message)}`,
          );
          const id = get(message.params, 'toolCall.toolCallId');
          expect(reported.has(id), `a permission for the tool call ${show(id)}, which was not reported`);
        }
      }
      if (!asked) skip('it never asked for a permission');
    },
  },
  {
    id: 'C083',
    level: 'MUST',
    title: 'what was allowed is done; what was rejected is not, and the Turn goes on',
    async run(world) {
      const rejected = await decided(world, reject);
      expect(!(await wasDone(world, rejected)), 'it did what was rejected');
      const allowed = await decided(world, allow);
      expect(await wasDone(world, allowed), 'it did not do what was allowed');
    },
  },
  {
    id: 'C032',
    level: 'MUST',
    title: 'it works in the directory of the Session, not in its own',
    async run(world) {
      const stray = join(process.cwd(), 'conformance.txt');
      if (await exists(stray)) skip(`there is a ${stray} already`);
      await decided(world, allow);
      expect(!(await exists(stray)), `it wrote ${stray}`);
      if (!(await exists(fileOf(world)))) skip('it did not write conformance.txt');
    },
  },
  {
    id: 'C084',
    level: 'MAY',
    title: 'an error, nonsense or an unknown option is no permission, and no failure of the Turn',
    async run(world) {
      for (const result of [
        { outcome: { outcome: 'selected', optionId: 'conformance-unknown' } },
        { outcome: 'allow' },
      ]) {
        const turn = await decided(world, () => result);
        expect(!(await wasDone(world, turn)), `${JSON.stringify(result)} was taken for a permission`);
      }
      const refused = await decided(world, (_params, id, client) => {
        client.send({ jsonrpc: '2.0', id, error: { code: -32603, message: 'no' } });
      });
      expect(!(await wasDone(world, refused)), 'an error was taken for a permission');
    },
  },
  {
    id: 'C012',
    level: 'MAY',
    title: 'an answer whose id has the wrong type answers nothing',
    restsOn: ['EXT-001'],
    async run(world) {
      const client = await world.agent();
      const { sessionId } = await newSession(world, client);
      const { turn, request } = await askingTurn(world, client, sessionId);
      if (typeof request.id !== 'number') skip('the ids of its requests are no numbers');
      const start = client.frames.length;
      client.send({ jsonrpc: '2.0', id: String(request.id), result: allow(request.params) });
      await client.fence();
      expect(!hasEnded(client, turn) && updates(client, sessionId, start).length === 0, 'it went on');
      client.send({ jsonrpc: '2.0', id: request.id, result: reject(request.params) });
      await expectEnd(turn);
    },
  },
  {
    id: 'C057',
    level: 'MUST',
    title: 'a permission that waits holds up nothing else',
    async run(world) {
      const client = await world.agent();
      const { sessionId } = await newSession(world, client);
      const { turn, request } = await askingTurn(world, client, sessionId);
      const other = await client.request('session/new', { cwd: world.cwd, mcpServers: [] });
      expect(other.result, `session/new while a permission waits: ${show(other.error)}`);
      client.send({ jsonrpc: '2.0', id: request.id, result: reject(request.params) });
      await expectEnd(turn);
    },
  },
  {
    id: 'C085',
    level: 'MAY',
    title: 'what was allowed always is not asked again in the Session',
    async run(world) {
      const client = await world.agent();
      const { sessionId } = await newSession(world, client);
      const { turn, request } = await askingTurn(world, client, sessionId);
      const options = list(get(request.params, 'options')).filter(isObject);
      const always = options.find(({ kind }) => kind === 'allow_always');
      const result = { outcome: { outcome: 'selected', optionId: always?.optionId } };
      client.send({ jsonrpc: '2.0', id: request.id, result: always ? result : reject(request.params) });
      await expectEnd(turn);
      if (!always) skip('it offers no permission for always');
      const start = client.frames.length;
      client.handlers.set('session/request_permission', reject);
      const prompt = [{ type: 'text', text: world.prompts.permission }];
      await client.request('session/prompt', { sessionId, prompt });
      const again = client.frames.slice(start).some(({ message }) => message?.method === 'session/request_permission');
      expect(!again, 'it asked again');
    },
  },
]);

type Decide = (params: unknown, id: unknown, client: Client) => unknown;
interface Decided {
  client: Client;
  turn: Turn;
  toolCallId: unknown;
}

/** A Turn in which every permission was decided in one way. */
async function decided(world: World, decide: Decide): Promise<Decided> {
  const client = await world.agent();
  await rm(fileOf(world), { force: true });
  const { sessionId } = await newSession(world, client);
  const { turn, request } = await askingTurn(world, client, sessionId);
  const answer = (params: unknown, id: unknown) => decide(params, id, client);
  client.handlers.set('session/request_permission', answer);
  const result = answer(request.params, request.id);
  if (result !== undefined) client.send({ jsonrpc: '2.0', id: request.id, result });
  await expectEnd(turn);
  return { client, turn, toolCallId: get(request.params, 'toolCall.toolCallId') };
}

/** The tool call says so, or the file that the prompt asks for is there. */
async function wasDone(world: World, { client, turn, toolCallId }: Decided): Promise<boolean> {
  const own = updates(client, turn.sessionId, turn.start).filter((update) => update.toolCallId === toolCallId);
  if (own.some(({ status }) => status === 'completed')) return true;
  return exists(fileOf(world));
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function fileOf({ cwd }: World): string {
  return join(cwd, 'conformance.txt');
}
