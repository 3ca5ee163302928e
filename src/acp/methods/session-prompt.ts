/**
 * `session/prompt`: admits a prompt and answers when this connection has been sent everything up to the Turn's end.
 * The Turn itself does not depend on the request, nor on the connection.
 */
import type { PromptResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { interrupt, send } from '../../core/conversation.ts';
import { newId, permissionModeSchema, reasoningEffortSchema } from '../../core/event.ts';
import { rootsOf } from '../../core/roots.ts';
import { readCommand } from '../commands.ts';
import { assertInside, promptSchema } from '../content.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';
import { stopReason } from '../translate.ts';

/** Knobs for this Turn only. Other members of `_meta` are somebody else's and are ignored. */
const metaSchema = z.object({
  model: z.string().trim().optional(),
  reasoning_effort: z.string().trim().pipe(reasoningEffortSchema).optional(),
  permission_mode: permissionModeSchema.optional(),
  presenter_context: z.json().optional(),
  pixir: z
    .object({ promptKey: z.string().min(1).max(128).optional(), presenter_context: z.json().optional() })
    .optional(),
});

export const sessionPrompt = defineMethod({
  name: 'session/prompt',
  kind: 'request',
  params: z.object({ sessionId: sessionIdSchema, prompt: promptSchema, _meta: metaSchema.nullish() }),
  async handle(
    { sessionId, prompt: { content, blobs }, _meta },
    { agent, connection, signal, answered },
  ): Promise<PromptResponse> {
    const prompts = connection.prompts(sessionId);
    const open = { cancelRequested: false, answered };
    // Before the first await: a cancel that follows at once must find this prompt.
    prompts.add(open);
    const cancel = () => {
      open.cancelRequested = true;
      interrupt(agent.runtime, connection.principal, sessionId).catch(agent.onError);
    };
    signal.addEventListener('abort', cancel);
    try {
      const feed = await connection.feeds.control(sessionId);
      await assertInside(content, rootsOf(feed.session.state), agent.runtime.resolveWorkspace);
      const command = await readCommand(content, () => agent.runtime.findSkills(feed.session.state.workspace));
      const messageId = newId('usr');
      feed.skipOwn(messageId);
      const { done } = await send(agent.runtime, connection.principal, {
        sessionId,
        turnId: newId('turn'),
        messageId,
        content,
        blobs,
        promptKey: _meta?.pixir?.promptKey,
        model: _meta?.model,
        effort: _meta?.reasoning_effort,
        permissionMode: _meta?.permission_mode,
        presenterContext: _meta?.pixir?.presenter_context ?? _meta?.presenter_context,
        client: connection.services(sessionId),
        ...command,
      });
      if (open.cancelRequested) await interrupt(agent.runtime, connection.principal, sessionId);
      const end = await done;
      await connection.feeds.sent(sessionId, end.seq);
      return { stopReason: stopReason(end.stopReason, open.cancelRequested) };
    } finally {
      signal.removeEventListener('abort', cancel);
      prompts.delete(open);
    }
  },
});
