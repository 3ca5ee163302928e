import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import * as z from 'zod';
import { connect } from '../../src/client/connect.ts';
import type { Session } from '../../src/client/session.ts';
import type { Transcript } from '../../src/client/transcript.ts';
import type { EventType } from '../../src/core/event.ts';
import type { ProviderEvent } from '../../src/core/provider.ts';
import { defineTool, type Tool } from '../../src/core/tool.ts';
import { call, finish, say, think } from '../../src/providers/script.ts';
import { ADA, startServer, TOKEN } from '../server/support.ts';
import { type ChaosProxy, type Fault, type Passage, startChaosProxy } from '../support/chaos-proxy.ts';
import { type FakeClock, fakeClock } from '../support/fake-clock.ts';
import { TEST_TOOLS } from '../support/tools.ts';
import { type World, world } from '../support/world.ts';

const USAGE = { input: 40, cached: 0, output: 2, reasoning: 0 };

/** Text, thoughts, a plan, tools, one of them with live output, an approval, and a second Turn. */
const ANSWERS: readonly ProviderEvent[][] = [
  [...think('Let me see.'), ...say('First a look. '), call('c1', 'note', { text: 'a' }), finish()],
  [...say('A plan. '), call('c2', 'planner', { text: 'step' }), call('c3', 'build', {}), finish()],
  [...say('May I? '), call('c4', 'poke', { text: 'x' }), { type: 'finished', reason: 'stop', usage: USAGE }],
  [...think('Good.'), ...say('All of it is done.'), finish()],
  [...say('And a second Turn.'), finish()],
];
const PROMPTS = ['one', 'two'];
const READ = [
  ...['one', 'Let me see.', 'First a look. ', 'note a: completed'],
  ...['A plan. ', 'planner step: completed', 'build: completed', 'May I? ', 'poke x: completed'],
  ...['Good.', 'All of it is done.', 'two', 'And a second Turn.'],
];

/** Long enough for a client to come back in the middle of a sentence. */
async function rest(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn();
}

/** Shows output while it runs. */
const build = defineTool({
  name: 'build',
  description: 'Test tool build.',
  kind: 'execute',
  schema: z.strictObject({}),
  effect: () => 'read',
  title: () => 'build',
  async run(_args, { progress }) {
    for (const output of ['compiling', 'compiling\nlinking']) {
      progress(output);
      await rest();
    }
    return { ok: true, output: 'built' };
  },
  dryRun: async () => ({ ok: true, output: 'would build' }),
});

/** What one run of the conversation came to. */
interface Outcome {
  /** Byte for byte, except that each id is the number of its first appearance. */
  transcript: string;
  stopReasons: string[];
  /** In the Logs of all Sessions: where the answer to `session/new` was lost, there is an empty one. */
  turns: Record<'turn_started' | 'user_message' | 'turn_finished', number>;
  executions: string[];
}

interface Stage {
  proxy: ChaosProxy;
  /** Sends new connections to this world. */
  enter(w: World): void;
}

/** A real server, behind a proxy, for one world after the other. */
async function stage(t: TestContext): Promise<Stage> {
  let current: World | undefined;
  let port = 0;
  const proxy = await startChaosProxy(() => port);
  t.after(() => proxy[Symbol.asyncDispose]());
  const server = await startServer(t, {
    openPeer: (transport, principal) => {
      assert.ok(current);
      return current.openPeer(transport, principal);
    },
    authenticate: () => ({ principal: ADA }),
    publicUrl: `http://${proxy.host}`,
  });
  port = server.port;
  return {
    proxy,
    enter(w) {
      current = w;
    },
  };
}

async function* speak(steps: readonly ProviderEvent[]): AsyncGenerator<ProviderEvent> {
  for (const step of steps) {
    await rest();
    yield step;
  }
}

async function converse({ proxy, enter }: Stage, fault?: Fault): Promise<Outcome & Pick<Passage, 'frames'>> {
  const executions: string[] = [];
  const answers = ANSWERS.values();
  await using w = await world({
    script: () => speak(answers.next().value ?? []),
    tools: [...TEST_TOOLS, build].map((tool) => counted(tool, executions)),
    settings: { permissionCeiling: 'ask' },
  });
  enter(w);
  const passage = proxy.arm(fault);
  const clock = fakeClock();
  const ports = { now: clock.now, after: clock.after, random: () => 0 };
  const client = connect(`http://${proxy.host}`, { token: TOKEN, ports });
  if (fault?.kind === 'half_open') void passage.struck.then(() => wait(clock, 60_000));
  const session = await client.newSession({ cwd: w.dir });
  void allowEverything(session);
  const stopReasons: string[] = [];
  for (const prompt of PROMPTS) stopReasons.push((await session.prompt(prompt)).stopReason);
  const frames = { ...passage.frames };
  client.close();
  const sessions = await w.log.sessions({});
  const events = (await Promise.all(sessions.map(({ sessionId }) => w.events(sessionId)))).flat();
  const count = (type: EventType) => events.filter((event) => event.type === type).length;
  return {
    transcript: withoutIds(JSON.stringify(session.transcript)),
    stopReasons,
    turns: {
      turn_started: count('turn_started'),
      user_message: count('user_message'),
      turn_finished: count('turn_finished'),
    },
    executions,
    frames,
  };
}

/** Lets the client notice a silence: time passes, and in between whatever arrives is read. */
async function wait(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed <= ms; passed += 15_000) {
    await turn();
    clock.advance(15_000);
  }
}

async function allowEverything(session: Session): Promise<void> {
  for await (const change of session.changes())
    if (change.type === 'permission') session.answer(change.permission.permissionId, 'allow');
}

function counted(tool: Tool, executions: string[]): Tool {
  return {
    ...tool,
    run(args, context) {
      executions.push(tool.name);
      return tool.run(args, context);
    },
  };
}

function withoutIds(json: string): string {
  const names = new Map<string, string>();
  return json.replace(/[a-z]{3}_[0-9a-f]{16}|\d+(?:-\d+){3}/g, (id) => {
    const name = names.get(id) ?? `#${names.size}`;
    names.set(id, name);
    return name;
  });
}

/** What a person reads of it. */
function read(transcript: string): string[] {
  return (JSON.parse(transcript) as Transcript).items.map((item) => {
    if (item.type === 'tool') return `${item.call.title}: ${item.call.status}`;
    return item.type === 'user' ? item.content.map((block) => 'text' in block && block.text).join('') : item.text;
  });
}

const NIGHTLY = process.env.PIXIR_NIGHTLY === '1';
const [THIRD, EACH] = NIGHTLY ? [1, 'every single'] : [3, 'every third'];

/** Goes wrong once at each `step`th frame that the uninterrupted conversation has, in both directions. */
async function everywhere(t: TestContext, kind: Fault['kind'], step: number): Promise<void> {
  const there = await stage(t);
  const { frames, ...whole } = await converse(there);
  assert.deepEqual(read(whole.transcript), READ);
  assert.deepEqual(whole.stopReasons, ['end_turn', 'end_turn']);
  assert.deepEqual(whole.turns, { turn_started: 2, user_message: 2, turn_finished: 2 });
  assert.deepEqual(whole.executions, ['note', 'planner', 'build', 'poke']);
  for (const direction of ['in', 'out'] as const) {
    for (let at = 1; at <= frames[direction]; at += step) {
      const { frames: _, ...outcome } = await converse(there, { kind, direction, at });
      assert.deepEqual(outcome, whole, `${kind} at frame ${at} ${direction}`);
    }
  }
}

test('[CUT3] cut after every single frame, in both directions: the same transcript, byte for byte, and everything ran once', (t) =>
  everywhere(t, 'cut', 1));

test(`[CUT3] cut in the middle of ${EACH} frame, in both directions: no difference`, (t) =>
  everywhere(t, 'torn', THIRD));

test(`[CUT4] half-open after ${EACH} frame, in both directions: the client notices the silence; no other difference`, (t) =>
  everywhere(t, 'half_open', THIRD));
