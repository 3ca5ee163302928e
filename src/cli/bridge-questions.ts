/**
 * What the server asks the editor. The server numbers its questions anew on every connection; the editor sees ids that
 * are its own for life, is never asked the same permission twice, and its answer is kept until the server has it. A
 * terminal that the server has lost sight of is released in its place.
 */
import type { RequestId } from '../acp/jsonrpc.ts';
import { type Frame, membersOf, pixirOf, sessionIdOf, textOf } from './bridge-frames.ts';

interface Question {
  method: string | undefined;
  sessionId: string | undefined;
  /** Present: it outlives its connection, and comes again under this name. */
  permissionId: string | undefined;
  /** Its id on this connection; undefined while the server has not asked it here, or has been answered. */
  serverId: RequestId | undefined;
  /** What the editor said. */
  answer?: Frame;
}

const CREATE = 'terminal/create';
const RELEASE = 'terminal/release';

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
  const terminals = createTerminals((params) => {
    lastId -= 1;
    toEditor({ jsonrpc: '2.0', id: lastId, method: RELEASE, params });
  });
  let lastId = 0;

  function withdraw(id: RequestId, { method, answer }: Question): void {
    // It may have been made all the same.
    if (method !== CREATE) questions.delete(id);
    if (!answer) toEditor({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: id } });
  }

  function reply(question: Question): void {
    if (question.serverId !== undefined) toServer({ ...question.answer, jsonrpc: '2.0', id: question.serverId });
    question.serverId = undefined;
  }

  return {
    asked(frame) {
      if (frame.method === RELEASE) terminals.released(frame.params);
      const permissionId = textOf(pixirOf(frame.params).permissionId);
      const known = permissionId && [...questions.values()].find((question) => question.permissionId === permissionId);
      if (known) {
        known.serverId = frame.id;
        if (known.answer) reply(known);
        return;
      }
      lastId -= 1;
      const { id: serverId, method } = frame;
      questions.set(lastId, { method, sessionId: sessionIdOf(frame.params), permissionId, serverId });
      toEditor({ ...frame, id: lastId });
    },
    answered(id, answer) {
      const question = questions.get(id);
      if (!question || question.answer) return;
      question.answer = answer;
      if (question.method === CREATE) terminals.made(question, answer);
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
      terminals.lost();
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

/** The editor's terminals that the server of this connection knows and has not released. */
function createTerminals(release: (params: { sessionId: string | undefined; terminalId: string }) => void) {
  const terminals = new Map<string, string | undefined>();
  return {
    made({ sessionId, serverId }: Question, { result }: Frame): void {
      const terminalId = textOf(membersOf(result).terminalId);
      if (terminalId === undefined) return;
      if (serverId === undefined) release({ sessionId, terminalId });
      else terminals.set(terminalId, sessionId);
    },
    released(params: unknown): void {
      terminals.delete(textOf(membersOf(params).terminalId) ?? '');
    },
    lost(): void {
      for (const [terminalId, sessionId] of terminals) release({ sessionId, terminalId });
      terminals.clear();
    },
  };
}
