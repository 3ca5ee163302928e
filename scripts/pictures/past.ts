/** Sessions of the days before, recorded through the real store, so that a list looks as it does after a week. */
import { join } from 'node:path';
import type { EventData, EventDraft, EventType } from '../../src/core/event.ts';
import { openSqliteLog } from '../../src/store/sqlite-log.ts';
import { REPOSITORY } from '../../test/support/processes.ts';
import { API, SHOP } from './project.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago each ended. */
const PAST = [
  { id: 'rates', workspace: API, title: 'Limit requests by token, not by address', ago: 6 * DAY },
  { id: 'openapi', workspace: API, title: 'OpenAPI description of /orders', ago: 2 * DAY },
  { id: 'deps', workspace: SHOP, title: 'What would leaving Webpack cost us?', ago: 3 * DAY },
  { id: 'focus', workspace: SHOP, title: 'Keep the focus inside the cart drawer', ago: 26 * HOUR },
  { id: 'retry', workspace: API, title: 'Retry payments that time out, once', ago: 3 * HOUR },
  { id: 'prices', workspace: SHOP, title: 'Format prices by the customer’s language', ago: 50 * MINUTE },
] as const;

export const sessionOf = (id: (typeof PAST)[number]['id']) => `20260310T080000-${id.padEnd(16, '0')}`;

export async function recordPast(dataDir: string, now: number): Promise<void> {
  let at = now;
  const clock = { now: () => at, after: () => () => undefined };
  const log = openSqliteLog({ file: join(dataDir, 'pixir.db'), migrationsDir: join(REPOSITORY, 'migrations'), clock });
  for (const { id, workspace, title, ago } of PAST) {
    at = now - ago;
    await log.append(session(sessionOf(id), workspace, title));
  }
  await log.close();
}

function session(sessionId: string, workspace: string, title: string): EventDraft[] {
  const event = <T extends EventType>(type: T, data: EventData[T]) => ({ sessionId, type, data }) as EventDraft;
  const turnId = 'turn_1';
  const text = `${title}.`;
  return [
    event('session_created', { workspace, mode: 'build', permissionCeiling: 'ask', owner: 'local' }),
    event('turn_started', { turnId }),
    event('user_message', { turnId, messageId: 'usr_1', content: [{ type: 'text', text }], by: 'local' }),
    event('session_titled', { title, by: 'runtime' }),
    event('assistant_message', { turnId, messageId: 'msg_1', text: 'Done, and the tests pass.' }),
    event('turn_finished', { turnId, outcome: 'completed', stopReason: 'end_turn' }),
  ];
}
