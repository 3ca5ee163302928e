/** One frame of a conversation, with what can be said of it at once: is it text, what it answers, does it fit the schema. */
import { isObject } from './requirement.ts';
import { unknownMembers, violation } from './schema.ts';

export interface Message {
  jsonrpc?: unknown;
  id?: unknown;
  method?: unknown;
  params?: unknown;
  result?: unknown;
  error?: unknown;
}

export interface Asked {
  method: string;
  params: unknown;
}

export interface Frame {
  from: 'agent' | 'client';
  text: string;
  /** Absent where the text is not one JSON object. */
  message?: Message;
  isUtf8: boolean;
  /** The request that it answers. */
  answers?: Asked;
  /** What the schema says against it. */
  violation?: string | undefined;
  unknownMembers: string[];
}

export function sent(message: unknown): Frame {
  const text = JSON.stringify(message);
  return { from: 'client', text, isUtf8: true, unknownMembers: [], ...(isObject(message) ? { message } : {}) };
}

export function received(bytes: Buffer, asked: ReadonlyMap<unknown, Asked>): Frame {
  const text = bytes.toString('utf8');
  const frame: Frame = { from: 'agent', text, isUtf8: Buffer.from(text).equals(bytes), unknownMembers: [] };
  const message = parse(text);
  if (!message) return frame;
  frame.message = message;
  const { id, method, params, result } = message;
  if (typeof method === 'string') return checked(frame, method, id === undefined ? 'Notification' : 'Request', params);
  const answers = asked.get(sameId(id, asked));
  if (!answers) return frame;
  frame.answers = answers;
  return 'result' in message && !('error' in message) ? checked(frame, answers.method, 'Response', result) : frame;
}

/** The id among these that was meant. One of the wrong type is a finding of its own, and no reason to wait for ever. */
export function sameId(id: unknown, known: ReadonlyMap<unknown, unknown>): unknown {
  return known.has(id) ? id : [...known.keys()].find((own) => String(own) === String(id));
}

function checked(frame: Frame, method: string, part: 'Request' | 'Response' | 'Notification', value: unknown): Frame {
  frame.violation = violation(method, part, value);
  if (isObject(value)) frame.unknownMembers = unknownMembers(method, part, value);
  return frame;
}

function parse(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
