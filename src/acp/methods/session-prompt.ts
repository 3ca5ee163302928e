/**
 * `session/prompt`: admits a prompt and answers when this connection has been sent everything up to the Turn's end.
 * The Turn itself does not depend on the request, nor on the connection.
 */
import type { PromptResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { interrupt, send } from '../../core/conversation.ts';
import { contentBlockSchema, newId, permissionModeSchema, reasoningEffortSchema } from '../../core/event.ts';
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

const promptSchema = z
  .array(contentBlockSchema)
  .refine((blocks) => blocks.some((block) => block.type !== 'text' || block.text.trim() !== ''), 'the prompt is empty');

export const sessionPrompt = defineMethod({
  name: 'session/prompt',
  kind: 'request',
  params: z.object({ sessionId: sessionIdSchema, prompt: promptSchema, _meta: metaSchema.nullish() }),
  async handle({ sessionId, prompt: content, _meta }, { agent, connection, signal }): Promise<PromptResponse> {
    const prompts = connection.prompts(sessionId);
    const open = { cancelRequested: false };
    // Before the first await: a cancel that follows at once must find this prompt.
    prompts.add(open);
    const cancel = () => {
      open.cancelRequested = true;
      interrupt(agent.runtime, connection.principal, sessionId).catch(agent.onError);
    };
    signal.addEventListener('abort', cancel);
    try {
      const feed = await connection.feeds.control(sessionId);
      const messageId = newId('usr');
      feed.skipOwn(messageId);
      const { done } = await send(agent.runtime, connection.principal, {
        sessionId,
        turnId: newId('turn'),
        messageId,
        content,
        promptKey: _meta?.pixir?.promptKey,
        model: _meta?.model,
        effort: _meta?.reasoning_effort,
        permissionMode: _meta?.permission_mode,
        presenterContext: _meta?.pixir?.presenter_context ?? _meta?.presenter_context,
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
