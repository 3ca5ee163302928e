/**
 * What the server asks the editor. The server numbers its questions anew on every connection; the editor sees ids that
 * are its own for life, is never asked the same permission twice, and its answer is kept until the server has it.
 */
import type { RequestId } from '../acp/jsonrpc.ts';
import { type Frame, pixirOf, sessionIdOf, textOf } from './bridge-frames.ts';

interface Question {
  sessionId: string | undefined;
  /** Present: it outlives its connection, and comes again under this name. */
  permissionId: string | undefined;
  /** Its id on this connection; undefined while the server has not asked it here, or has been answered. */
  serverId: RequestId | undefined;
  /** What the editor said. */
  answer?: Frame;
}

export interface Questions {
  /** The server asks, perhaps again. */
  asked(frame: Frame): void;
  /** The editor answers. */
  answered(id: RequestId, answer: Frame): void;
  /** The server withdraws what it asked under its own id. */
  withdrawn(serverId: unknown): void;
  /** The connection has gone. */
  lost(): void;
  /** These permissions of the Session wait for a decision, and no others. */
  keepOnly(sessionId: string, permissionIds: readonly unknown[]): void;
  /** A Turn is over: nobody asks again for what was answered in it. */
  turnOver(sessionId: string): void;
}

export function createQuestions(toEditor: (frame: Frame) => void, toServer: (frame: Frame) => void): Questions {
  /** By the id that the editor knows. */
  const questions = new Map<RequestId, Question>();
  let lastId = 0;

  function withdraw(id: RequestId, { answer }: Question): void {
    questions.delete(id);
    if (!answer) toEditor({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: id } });
  }

  function reply(question: Question): void {
    if (question.serverId !== undefined) toServer({ ...question.answer, jsonrpc: '2.0', id: question.serverId });
    question.serverId = undefined;
  }

  return {
    asked(frame) {
      const permissionId = textOf(pixirOf(frame.params).permissionId);
      const known = permissionId && [...questions.values()].find((question) => question.permissionId === permissionId);
      if (known) {
        known.serverId = frame.id;
        if (known.answer) reply(known);
        return;
      }
      lastId -= 1;
      questions.set(lastId, { sessionId: sessionIdOf(frame.params), permissionId, serverId: frame.id });
      toEditor({ ...frame, id: lastId });
    },
    answered(id, answer) {
      const question = questions.get(id);
      if (!question || question.answer) return;
      question.answer = answer;
      reply(question);
      if (question.permissionId === undefined) questions.delete(id);
    },
    withdrawn(serverId) {
      for (const [id, question] of questions) if (question.serverId === serverId) withdraw(id, question);
    },
    lost() {
      for (const [id, question] of questions) {
        question.serverId = undefined;
        if (question.permissionId === undefined) withdraw(id, question);
      }
    },
    keepOnly(sessionId, permissionIds) {
      for (const [id, question] of questions) {
        const { permissionId } = question;
        if (question.sessionId !== sessionId || permissionId === undefined) continue;
        if (!permissionIds.includes(permissionId)) withdraw(id, question);
      }
    },
    turnOver(sessionId) {
      for (const [id, question] of questions) {
        if (question.sessionId === sessionId && question.answer) questions.delete(id);
      }
    },
  };
}
