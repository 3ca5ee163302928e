/** What the hand-written agent of the self-test does when it is asked: one way for each prompt. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Json = Record<string, unknown>;

export interface Session {
  sessionId: string;
  cwd: string;
  updatedAt: string;
  replay: Json[];
  options: Record<string, string>;
  allowedAlways: boolean;
  /** Ends the running Turn. */
  cancel?: ((by: 'cancel' | 'close') => void) | undefined;
}

interface Wire {
  /** Whether the agent has this defect. */
  is(defect: string): boolean;
  send(message: Json): void;
  update(session: Session, change: Json): void;
  ask(method: string, params: Json): { id: number; result: Promise<Json | undefined> };
  /** Of the client. */
  capabilities(): Json | undefined;
}

type Work = (session: Session, cancelled: Promise<void>) => Promise<void>;

/** Of all Sessions. */
let calls = 0;

export function createTurns({ is, send, update, ask, capabilities }: Wire): Record<string, Work> {
  return {
    busy: (_, cancelled) => cancelled,
    async tool(session) {
      const toolCallId = `tool ${++calls}`;
      const locations = [{ path: is('relative-paths') ? 'a.txt' : join(session.cwd, 'a.txt') }];
      const unreported = is('unreported-tool-call');
      if (!unreported)
        update(session, { sessionUpdate: 'tool_call', toolCallId, title: 'look', kind: 'read', locations });
      update(session, { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
    },
    async permission(session, cancelled) {
      const toolCallId = `tool ${++calls}`;
      update(session, { sessionUpdate: 'tool_call', toolCallId, title: 'write', kind: 'edit', status: 'pending' });
      const options = ['allow_once', 'allow_always', 'reject_once'].map((kind) => ({
        optionId: kind,
        name: kind,
        kind,
      }));
      if (!session.allowedAlways) {
        const params = { sessionId: session.sessionId, toolCall: { toolCallId }, options };
        const { id, result } = ask('session/request_permission', params);
        const decision = await Promise.race([result, cancelled.then(() => 'cancelled' as const)]);
        if (decision === 'cancelled') send({ method: '$/cancel_request', params: { requestId: id } });
        const outcome = decision === 'cancelled' ? undefined : (decision?.outcome as Json | undefined);
        session.allowedAlways = outcome?.optionId === 'allow_always';
        const ignores = is('ignores-permissions') && outcome?.outcome === 'selected';
        if (!ignores && !['allow_once', 'allow_always'].includes(String(outcome?.optionId))) {
          update(session, { sessionUpdate: 'tool_call_update', toolCallId, status: 'failed' });
          return;
        }
      }
      writeFileSync(join(session.cwd, 'conformance.txt'), 'hello');
      update(session, { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
    },
    async read({ sessionId, cwd }) {
      if ((capabilities()?.fs as Json | undefined)?.readTextFile)
        await ask('fs/read_text_file', { sessionId, path: join(cwd, 'README.md') }).result;
    },
    async terminal({ sessionId }) {
      if (!capabilities()?.terminal) return;
      const terminal = await ask('terminal/create', { sessionId, command: 'echo' }).result;
      const params = { sessionId, terminalId: terminal?.terminalId };
      await ask('terminal/wait_for_exit', params).result;
      if (!is('keeps-terminals')) await ask('terminal/release', params).result;
    },
    async form({ sessionId }) {
      if (!capabilities()?.elicitation) return;
      const requestedSchema = { type: 'object', properties: { colour: { type: 'string' } } };
      await ask('elicitation/create', { sessionId, mode: 'form', message: 'Which colour?', requestedSchema }).result;
    },
  };
}
