/** What an agent asks of its client: files, terminals, forms. A client offers what it likes, and is asked for nothing else. */
import { writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { Client } from '../client.ts';
import { expect, get, isObject, type Requirement, restingOn, show, skip } from '../requirement.ts';
import { expectEnd, newSession, say } from '../steps.ts';
import type { World } from '../world.ts';

export const clientServices: Requirement[] = [
  unasked('CLIENTCAP-001', 'file', 'fs/', (client) => get(client.capabilities, 'fs')),
  unasked('CLIENTCAP-002', 'terminal', 'terminal/', (client) => get(client.capabilities, 'terminal')),
  unasked('CLIENTCAP-003', 'form', 'elicitation/', (client) => get(client.capabilities, 'elicitation')),
  ...restingOn('PROMPT-001', [
    {
      id: 'C089',
      level: 'MAY',
      title: 'a client that offers its files is asked for them, by absolute path',
      async run(world) {
        const client = await world.freshWith({ fs: { readTextFile: true, writeTextFile: true } });
        await writeFile(join(world.cwd, 'README.md'), 'conformance\n');
        const paths: unknown[] = [];
        client.handlers.set('fs/read_text_file', (params) => {
          paths.push(get(params, 'path'));
          return { content: 'unsaved\n' };
        });
        await talk(world, client, world.prompts.read);
        if (paths.length === 0) skip('it did not ask for a file');
        for (const path of paths) expect(isAbsolute(String(path)), `it asked for the file ${show(path)}`);
      },
    },
    {
      id: 'C090',
      level: 'MUST',
      title: 'a terminal that was created is released',
      async run(world) {
        const client = await world.freshWith({ terminal: true });
        const open = terminals(client);
        await talk(world, client, world.prompts.terminal);
        if (open.created === 0) skip('it did not create a terminal');
        expect(open.ids.size === 0, `${open.ids.size} of ${open.created} terminals were not released`);
      },
    },
    {
      id: 'C091',
      level: 'MUST',
      title: 'a form that is declined or left does not fail the Turn',
      async run(world) {
        const client = await world.freshWith({ elicitation: { form: {} } });
        for (const action of ['decline', 'cancel']) {
          const modes: unknown[] = [];
          client.handlers.set('elicitation/create', (params) => {
            modes.push(get(params, 'mode'));
            return { action };
          });
          await talk(world, client, world.prompts.elicitation);
          if (modes.length === 0) skip('it did not ask with a form');
          for (const mode of modes)
            expect(mode === 'form', `a client that only shows forms was asked for ${show(mode)}`);
        }
      },
    },
  ]),
];

function unasked(id: string, noun: string, prefix: string, offer: (client: Client) => unknown): Requirement {
  return {
    id,
    level: 'MUST',
    title: `a client that offers no ${noun} is never asked for one`,
    cases: ['C025', 'C088', 'C103'],
    observe(clients) {
      for (const client of clients.filter((candidate) => !offer(candidate))) {
        const asked = client.said.find(({ message }) => String(message?.method).startsWith(prefix));
        expect(!asked, `it asked for a ${noun}: ${show(asked?.text)}`);
      }
    },
  };
}

async function talk(world: World, client: Client, prompt: string): Promise<void> {
  const { sessionId } = await newSession(world, client);
  await expectEnd(await say(client, sessionId, prompt));
}

/** Terminals in which every command says hello and ends well. */
function terminals({ handlers }: Client): { created: number; ids: Set<unknown> } {
  const open = { created: 0, ids: new Set<unknown>() };
  const exitStatus = { exitCode: 0, signal: null };
  handlers.set('terminal/create', () => {
    const terminalId = `terminal ${++open.created}`;
    open.ids.add(terminalId);
    return { terminalId };
  });
  handlers.set('terminal/output', () => ({ output: 'hello\n', truncated: false, exitStatus }));
  handlers.set('terminal/wait_for_exit', () => exitStatus);
  handlers.set('terminal/kill', () => ({}));
  handlers.set('terminal/release', (params) => {
    if (isObject(params)) open.ids.delete(params.terminalId);
    return {};
  });
  return open;
}
