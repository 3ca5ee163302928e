/** A Turn: what a prompt may hold, how it ends, and in which order. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Frame } from '../frame.ts';
import { expect, offers, type Requirement, restingOn, show, skip } from '../requirement.ts';
import {
  expectEnd,
  expectError,
  expectSilence,
  isOfATurn,
  isUpdate,
  newSession,
  say,
  startTurn,
  updates,
} from '../steps.ts';
import type { World } from '../world.ts';

/** One white pixel, and an empty sound. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

/** What a prompt may hold besides text; files are files of the Session's directory. */
const EXTRAS = {
  image: () => ({ type: 'image', mimeType: 'image/png', data: PIXEL }),
  audio: () => ({ type: 'audio', mimeType: 'audio/wav', data: SILENCE }),
  embeddedContext: (uri: string) => ({ type: 'resource', resource: { uri, text: 'hello', mimeType: 'text/plain' } }),
  link: (uri: string) => ({ type: 'resource_link', uri, name: 'note.txt' }),
};

const KINDS = ['image', 'audio', 'embeddedContext'] as const;

export const prompt: Requirement[] = restingOn('SESSION-001', [
  {
    id: 'PROMPT-001',
    level: 'MUST',
    title: 'a text prompt ends with a defined stop reason',
    cases: ['C058'],
    run: (world) => accepts(world),
  },
  ...restingOn('PROMPT-001', [
    {
      id: 'PROMPT-002',
      level: 'MUST',
      title: 'the updates of a Turn are sound and name its Session',
      run: soundUpdates,
    },
    {
      id: 'C059',
      level: 'MUST',
      title: 'no update of a Turn comes after its answer',
      restsOn: ['EXT-001'],
      run: inOrder,
    },
    {
      id: 'PROMPT-003',
      level: 'SHOULD',
      title: 'a link to a resource is accepted',
      cases: ['C060'],
      run: (world) => accepts(world, 'link'),
    },
    ...KINDS.map(
      (needs, index): Requirement => ({
        id: `PROMPTCAP-00${index + 1}`,
        level: 'MUST',
        title: `${needs} in a prompt is accepted, as offered`,
        cases: ['C060'],
        needs,
        run: (world) => accepts(world, needs),
      }),
    ),
    { id: 'C060', level: 'MAY', title: 'content that is not offered is -32602', run: refusesUnoffered },
    {
      id: 'C061',
      level: 'MAY',
      title: 'a prompt without content, or with an unknown kind of it, is -32602',
      async run(world) {
        const client = await world.agent();
        const { sessionId } = await newSession(world, client);
        for (const blocks of [[], [{ type: 'conformance-unknown' }], 'text']) {
          const answer = await client.request('session/prompt', { sessionId, prompt: blocks });
          expectError(answer, -32602, `the prompt ${JSON.stringify(blocks)}`);
        }
      },
    },
    {
      id: 'META-001',
      level: 'SHOULD',
      title: '_meta in a prompt does no harm',
      cases: ['C068'],
      async run(world) {
        const client = await world.agent();
        const { sessionId } = await newSession(world, client);
        const _meta = {
          traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
          'example.com/x': { y: 1 },
        };
        await expectEnd(await say(client, sessionId, world.prompts.text, { _meta }));
      },
    },
    {
      id: 'C056',
      level: 'MAY',
      title: 'two Sessions on one connection run side by side',
      restsOn: ['SESSION-002'],
      async run(world) {
        const client = await world.agent();
        const [one, two] = [await newSession(world, client), await newSession(world, client)];
        const first = startTurn(client, one.sessionId, world.prompts.text);
        await expectEnd(await say(client, two.sessionId, world.prompts.text));
        await expectEnd(first);
      },
    },
  ]),
]);

async function accepts(world: World, extra?: keyof typeof EXTRAS): Promise<void> {
  const client = await world.agent();
  const { sessionId } = await newSession(world, client);
  const text = { type: 'text', text: world.prompts.text };
  await expectEnd(await say(client, sessionId, extra ? [text, EXTRAS[extra](await note(world))] : [text]));
}

/** The address of a file in the Session's directory. */
async function note({ cwd }: World): Promise<string> {
  const path = join(cwd, 'note.txt');
  await writeFile(path, 'hello');
  return pathToFileURL(path).href;
}

async function soundUpdates(world: World): Promise<void> {
  const client = await world.agent();
  const { sessionId } = await newSession(world, client);
  const { start, answer } = await say(client, sessionId, world.prompts.text);
  const { at } = await answer;
  const isAny = ({ from, message }: Frame) => from === 'agent' && message?.method === 'session/update';
  const sent = client.frames.slice(start, at).filter(isAny);
  if (sent.length === 0) skip('it answered without any update');
  for (const { message, text, violation } of sent) {
    expect(violation === undefined, `${violation} in ${show(text)}`);
    expect(message && (isUpdate(message, sessionId) || !isOfATurn(message)), `of another Session: ${show(text)}`);
  }
}

async function inOrder(world: World): Promise<void> {
  const client = await world.agent();
  const { sessionId } = await newSession(world, client);
  const { start, answer } = await say(client, sessionId, world.prompts.text);
  const { at } = await answer;
  await expectSilence(client, sessionId, at);
  if (updates(client, sessionId, start).length === 0) skip('it answered without any update');
}

async function refusesUnoffered(world: World): Promise<void> {
  const client = await world.agent();
  const { sessionId } = await newSession(world, client);
  const unoffered = KINDS.filter((kind) => !offers(client, kind));
  if (unoffered.length === 0) skip('it offers every kind of content');
  for (const kind of unoffered) {
    const { answer } = await say(client, sessionId, [EXTRAS[kind](await note(world))]);
    expectError(await answer, -32602, `${kind} in a prompt, which it does not offer`);
  }
}
