/** Making Sessions. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, get, type Requirement, restingOn, show, skip } from '../requirement.ts';
import { expectError, newSession } from '../steps.ts';

export const session: Requirement[] = restingOn('INIT-001', [
  {
    id: 'SESSION-001',
    level: 'MUST',
    title: 'session/new with an absolute directory returns an id',
    cases: ['C029'],
    async run(world) {
      const client = await world.agent();
      const { result, error } = await client.request('session/new', { cwd: world.cwd, mcpServers: [] });
      if (get(error, 'code') === -32000) skip('it wants authentication; name a method with --auth');
      const id = get(result, 'sessionId');
      expect(typeof id === 'string' && id !== '', `session/new was answered with ${show(error ?? result)}`);
    },
  },
  ...restingOn('SESSION-001', [
    {
      id: 'SESSION-002',
      level: 'MUST',
      title: 'two Sessions have two ids',
      cases: ['C029'],
      async run(world) {
        const client = await world.agent();
        const [first, second] = [await newSession(world, client), await newSession(world, client)];
        expect(first.sessionId !== second.sessionId, `two Sessions have the id ${first.sessionId}`);
      },
    },
    {
      id: 'C030',
      level: 'SHOULD',
      title: 'session/new with bad params is -32602',
      async run(world) {
        const { cwd } = world;
        const client = await world.agent();
        const mcpServers: unknown[] = [];
        const bad = [{ mcpServers }, { cwd: null, mcpServers }, { cwd: 5, mcpServers }];
        const badServers = [{ cwd }, { cwd, mcpServers: 'x' }, { cwd, mcpServers: [{ name: 'no command' }] }];
        for (const params of [...bad, ...badServers]) {
          expectError(
            await client.request('session/new', params),
            -32602,
            `session/new with ${JSON.stringify(params)}`,
          );
        }
      },
    },
    {
      id: 'C031',
      level: 'MAY',
      title: 'a relative directory is -32602; one with spaces and signs from everywhere works',
      async run(world) {
        const client = await world.agent();
        const relative = await client.request('session/new', { cwd: 'relative/path', mcpServers: [] });
        expectError(relative, -32602, 'a relative directory');
        const cwd = join(world.cwd, 'a b ü \u{1f980} \u2028 c');
        await mkdir(cwd, { recursive: true });
        const { error } = await client.request('session/new', { cwd, mcpServers: [] });
        expect(!error, `a directory with spaces and other signs: ${show(error)}`);
      },
    },
    {
      id: 'ADDDIRS-001',
      level: 'MUST',
      title: 'additional directories are accepted',
      cases: ['C035'],
      needs: 'additionalDirectories',
      async run(world) {
        const client = await world.agent();
        const params = { cwd: world.cwd, mcpServers: [], additionalDirectories: [world.cwd] };
        const { error } = await client.request('session/new', params);
        expect(!error, `additional directories: ${show(error)}`);
      },
    },
    {
      id: 'C035',
      level: 'SHOULD',
      title: 'a relative additional directory is -32602',
      needs: 'additionalDirectories',
      async run(world) {
        const client = await world.agent();
        const params = { cwd: world.cwd, mcpServers: [], additionalDirectories: ['relative/path'] };
        expectError(await client.request('session/new', params), -32602, 'a relative additional directory');
      },
    },
    {
      id: 'C036',
      level: 'MAY',
      title: 'nothing is said of a Session before its id was told',
      observe(clients) {
        let judged = false;
        for (const { frames } of clients) {
          const told = new Set<unknown>();
          for (const { from, message, answers } of frames) {
            if (from === 'client') told.add(get(message?.params, 'sessionId'));
            else if (answers?.method === 'session/new') told.add(get(message?.result, 'sessionId'));
            else if (message?.method === 'session/update') {
              judged = true;
              const isKnown = told.has(get(message.params, 'sessionId'));
              expect(isKnown, `an update of a Session that nobody knows: ${show(message)}`);
            }
          }
        }
        if (!judged) skip('it sent no updates');
      },
    },
    {
      id: 'C044',
      level: 'SHOULD',
      title: 'an unknown Session is refused',
      async run(world) {
        const client = await world.agent();
        const answer = await client.request('session/prompt', unknown());
        expect(answer.error, `a prompt to an unknown Session: ${show(answer.result)}`);
        if (get(client.initialized, 'agentCapabilities.loadSession') !== true) return;
        const params = { sessionId: NOBODY, cwd: world.cwd, mcpServers: [] };
        const load = await client.request('session/load', params);
        expect(load.error, `session/load of an unknown Session: ${show(load.result)}`);
      },
    },
    {
      id: 'INFO-UNKNOWNSESSION-001',
      level: 'MAY',
      title: 'the refusal is -32002 and names the Session',
      cases: ['C044'],
      restsOn: ['C044'],
      async run(world) {
        const client = await world.agent();
        const answer = await client.request('session/prompt', unknown());
        expectError(answer, -32002, 'a prompt to an unknown Session');
        expect(
          get(answer.error, 'data.sessionId') === NOBODY,
          `the refusal does not name the Session: ${show(answer.error)}`,
        );
      },
    },
  ]),
]);

const NOBODY = 'conformance-nobody';

function unknown(): object {
  return { sessionId: NOBODY, prompt: [{ type: 'text', text: 'Is anybody there?' }] };
}
