import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Event } from '../../src/core/event.ts';
import { openReadOnly } from '../../src/store/sqlite-reader.ts';
import { startFakeOpenAi } from '../support/fake-openai.ts';
import { call, message } from '../support/fake-openai-steps.ts';
import { packagedPixir } from '../support/package.ts';
import { REPOSITORY, startServer } from '../support/processes.ts';
import { seeded } from '../support/seeded.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { Update } from '../support/wire-client.ts';
import { connectWebSocket } from '../support/ws-wire.ts';

const KILLS = 20;
const TURNS = 100;

/** Mostly a tool that is quick, and now and then one that starts processes. */
function toolCall(callId: string, turn: number) {
  if (turn % 5 === 0) return call(callId, 'bash', { command: `echo ${turn} > out` });
  return call(callId, 'write', { path: 'out', content: String(turn) });
}

/** What a client was shown and therefore must find in the Log for ever: calls, results and ends of Turns. */
interface Acknowledged {
  calls: Set<string>;
  results: Set<string>;
  /** How many prompts were answered. */
  answers: number;
}

function acknowledge(seen: Acknowledged, update: Update): void {
  const callId = String(update.toolCallId);
  if (update.sessionUpdate === 'tool_call') seen.calls.add(callId);
  if (update.sessionUpdate === 'tool_call_update' && update.status !== 'in_progress') seen.results.add(callId);
}

export function killing(): void {
  test(`[CRASH1] ${TURNS} Turns with tools, killed ${KILLS} times: nothing acknowledged is lost, every Turn ends once`, async () => {
    const random = seeded('kill');
    await using dir = await tempDir();
    await using fake = await startFakeOpenAi();
    const env = {
      PIXIR_PROVIDER: 'openai',
      OPENAI_BASE_URL: fake.baseUrl,
      OPENAI_API_KEY: 'sk-test',
      PIXIR_LOG_LEVEL: 'silent',
    };
    const seen: Acknowledged = { calls: new Set(), results: new Set(), answers: 0 };
    const bin = await packagedPixir();
    let sessionId: string | undefined;
    let turns = 0;

    for (let life = 0; life <= KILLS; life++) {
      await using server = await startServer(dir.path, env, ['--workspace', dir.path], bin);
      const { client } = await connectWebSocket(server);
      await client.initialize();
      sessionId ??= await client.newSession(dir.path);
      await client.request('session/resume', { sessionId, cwd: dir.path });
      // A Turn has about 14 frames, so the instant lies anywhere in the next few Turns.
      let left = life === KILLS ? Number.POSITIVE_INFINITY : 1 + Math.floor(random() * 80);
      const onFrame = () => {
        left--;
        if (left === 0) server.child.kill('SIGKILL');
      };
      while (life < KILLS || turns < TURNS) {
        turns++;
        const callId = `call_${turns}`;
        fake.answer(message('Let me ', 'see ', 'what ', 'is ', 'there. '), toolCall(callId, turns));
        fake.answer(message('It ', 'is ', 'written.'));
        client.onUpdate = (update) => {
          acknowledge(seen, update);
          onFrame();
        };
        const answered = await client.prompt(sessionId, `Turn ${turns}`).then(
          () => true,
          () => false,
        );
        if (!answered) break;
        seen.answers++;
        onFrame();
      }
      fake.forget();
      server.child.kill('SIGKILL');
      await server.exit();
      client.assertSound();
    }

    const restarted = await startServer(dir.path, env, [], bin);
    await restarted[Symbol.asyncDispose]();
    await check(dir.path, sessionId ?? '', seen);
  });
}

async function check(dataDir: string, sessionId: string, seen: Acknowledged): Promise<void> {
  const reader = openReadOnly({ file: join(dataDir, 'pixir.db'), migrationsDir: join(REPOSITORY, 'migrations') });
  try {
    assert.deepEqual(await reader.verifyDatabase(), []);
    const verdict = await reader.verifySession(sessionId);
    assert.equal(verdict.ok, true, JSON.stringify(verdict));
    const events = (await reader.read(sessionId, -1, 1_000_000)).map(({ event }) => event);
    const ids = (type: 'tool_call' | 'tool_result') =>
      new Set(events.flatMap((e) => (e.type === type ? [e.data.callId] : [])));
    assert.deepEqual(seen.calls.difference(ids('tool_call')), new Set(), 'a call that was shown is gone');
    assert.deepEqual(seen.results.difference(ids('tool_result')), new Set(), 'a result that was shown is gone');
    assertTurns(events, seen.answers);
  } finally {
    await reader.close();
  }
}

function assertTurns(events: Event[], answers: number): void {
  const ends = new Map<string, string[]>();
  for (const event of events) {
    if (event.type === 'turn_started') ends.set(event.data.turnId, []);
    if (event.type === 'turn_finished') ends.get(event.data.turnId)?.push(event.data.outcome);
  }
  for (const [turnId, outcomes] of ends) assert.equal(outcomes.length, 1, `${turnId} ended ${outcomes.length} times`);
  const completed = [...ends.values()].flat().filter((outcome) => outcome === 'completed').length;
  assert.ok(completed >= answers, `${answers} prompts were answered, ${completed} Turns completed`);
}
