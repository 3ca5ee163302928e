/** `ask_user`: puts one question to the person. It must never be taken for an answer that nobody gave. */
import * as z from 'zod';
import { CoreError } from '../core/errors.ts';
import { defineTool } from '../core/tool.ts';
import { firstBytes, OUTPUT_BYTES } from './bounded.ts';
import { shortTitle } from './presentation.ts';
import { checkAborted } from './workspace.ts';

export const askUser = defineTool({
  name: 'ask_user',
  description: 'Ask the user what only they know. Never a secret.',
  kind: 'other',
  effect: () => 'read',
  needs: 'ask',
  schema: z.strictObject({
    question: z.string().min(1),
    options: z.array(z.string().min(1)).min(1).optional().describe('Answers to choose from'),
  }),
  title: ({ question }) => shortTitle('ask_user', question),
  async run({ question: text, options }, { callId, client, signal }) {
    checkAborted(signal);
    if (!client?.ask) throw new CoreError('client_refused', 'the client cannot ask the user');
    const answer = await client.ask({ callId, text, options }, signal);
    checkAborted(signal);
    if (answer === undefined) return { ok: false, output: 'The user declined to answer.' };
    return { ok: true, output: firstBytes(answer, OUTPUT_BYTES) };
  },
  async dryRun({ question }, { signal }) {
    checkAborted(signal);
    return { ok: true, output: `would ask: ${firstBytes(question, OUTPUT_BYTES)}` };
  },
});
