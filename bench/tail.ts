/** Opening a long Session at its end: attach at the head, and the last page of history. */
import { join } from 'node:path';
import { systemClock } from '../src/core/clock.ts';
import type { EventDraft } from '../src/core/event.ts';
import { newSessionId } from '../src/core/session-id.ts';
import { openSqliteLog } from '../src/store/sqlite-log.ts';
import type { Client } from './client.ts';
import type { Context, Group } from './context.ts';
import { lastRows } from './log-floor.ts';
import { now, quantile, repeat } from './measure.ts';
import { REPOSITORY, scratchDirectory } from './processes.ts';

const EVENTS = 10_000;
const PAGE = 100;
const RESTARTS = 5;
const TIMES = 20;
const WARM_UP = 5;
const AIM = { value: 20, better: 'lower' } as const;
/** What an ordinary tool says. */
const OUTPUT = 'The quick brown fox jumps over the lazy dog.\n'.repeat(24);

export const tail: Group = async (context) => {
  const dataDir = scratchDirectory('data');
  const sessionId = await writeSession(context, dataDir);
  const cold: number[] = [];
  let warm: number[] = [];
  let shared: number[] = [];
  for (let restart = 0; restart < RESTARTS; restart++) {
    const server = await context.agents.serve('ours', { dataDir });
    const client = await server.connect({ cursors: true });
    cold.push(await openAtEnd(client, sessionId));
    if (restart === RESTARTS - 1) {
      warm = await repeat(TIMES, () => openAtEnd(client, sessionId));
      const other = await server.connect({ cursors: true });
      await other.request('_pixir/session/attach', { sessionId, cursor: 'head' });
      shared = await repeat(TIMES, () => openAtEnd(client, sessionId));
    }
    await server.stop();
  }
  const turn = turnEvents('', 0);
  const floor = await lastRows(PAGE, JSON.stringify(turn).length / turn.length, EVENTS);
  const warmOf = (times: number[]) => quantile(times.slice(WARM_UP));
  const note = `attach at head, then history of ${PAGE} Events`;
  return {
    title: `Opening a Session of ${EVENTS} Events at its end (WebSocket)`,
    floor: 'ws + SQLite',
    rows: [
      { name: 'first after a restart', unit: 'ms', floor: floor.first, ours: quantile(cold), aim: AIM, note },
      { name: 'again, nobody else watches', unit: 'ms', floor: floor.warm, ours: warmOf(warm), aim: AIM },
      { name: 'again, somebody else watches', unit: 'ms', floor: floor.warm, ours: warmOf(shared), aim: AIM },
    ],
  };
};

async function openAtEnd(client: Client, sessionId: string): Promise<number> {
  const began = now();
  await client.request('_pixir/session/attach', { sessionId, cursor: 'head' });
  const { updates } = await client.request<{ updates: unknown[] }>('_pixir/session/history', {
    sessionId,
    limit: PAGE,
  });
  const ms = now() - began;
  if (updates.length < PAGE / 3) throw new Error('history came back without its updates');
  await client.request('_pixir/session/detach', { sessionId });
  return ms;
}

/** Written by the Log itself: a thousand Turns through the agent would take a minute. */
async function writeSession({ agents }: Context, dataDir: string): Promise<string> {
  const log = openSqliteLog({
    file: join(dataDir, 'pixir.db'),
    migrationsDir: join(REPOSITORY, 'migrations'),
    clock: systemClock,
  });
  const sessionId = newSessionId(Date.now());
  const data = { workspace: agents.workspace, mode: 'build', permissionCeiling: 'auto', owner: 'local' } as const;
  await log.append([{ sessionId, type: 'session_created', data }]);
  let events = 1;
  for (let turn = 0; events < EVENTS; turn++) {
    const drafts = turnEvents(sessionId, turn);
    await log.append(drafts);
    events += drafts.length;
  }
  await log.close();
  return sessionId;
}

/** A question, two calls, an answer: what an ordinary Turn leaves. */
function turnEvents(sessionId: string, turn: number): EventDraft[] {
  const turnId = `turn_${turn}`;
  const usage = { input: 12_000, cached: 11_000, output: 200, reasoning: 50 };
  const asked = (iteration: number): EventDraft => {
    const data = { turnId, model: 'bench', iteration, usage, contextWindow: 400_000 };
    return { sessionId, type: 'provider_usage', data };
  };
  const called = (call: number): EventDraft[] => {
    const [callId, path] = [`call_${turn}_${call}`, `src/file${call}.ts`];
    const shown = { title: `Read ${path}`, kind: 'read' } as const;
    return [
      { sessionId, type: 'tool_call', data: { turnId, callId, name: 'read', args: { path }, ...shown } },
      { sessionId, type: 'tool_result', data: { turnId, callId, ok: true, output: OUTPUT } },
    ];
  };
  const content = [{ type: 'text' as const, text: `Question ${turn}: what does this file do, and why?` }];
  return [
    { sessionId, type: 'turn_started', data: { turnId } },
    { sessionId, type: 'user_message', data: { turnId, messageId: `usr_${turn}`, content } },
    asked(0),
    ...called(0),
    asked(1),
    ...called(1),
    { sessionId, type: 'assistant_message', data: { turnId, messageId: `msg_${turn}`, text: OUTPUT.slice(0, 600) } },
    asked(2),
    { sessionId, type: 'turn_finished', data: { turnId, outcome: 'completed', stopReason: 'end_turn' } },
  ];
}
