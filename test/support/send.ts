/** Sends a prompt through Conversation, as an in-process caller does. */
import { type Prompt, send } from '../../src/core/conversation.ts';
import { LOCAL } from '../../src/core/principal.ts';
import type { World } from './world.ts';

let counter = 0;

export function sendText(w: World, sessionId: string, text: string, extra: Partial<Prompt> = {}) {
  counter++;
  const content = [{ type: 'text' as const, text }];
  return send(w.runtime, LOCAL, {
    sessionId,
    turnId: extra.turnId ?? 't1',
    messageId: `usr_${counter}`,
    content,
    ...extra,
  });
}
