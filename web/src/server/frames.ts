/** What can be said of a frame by looking at its beginning and its end. It parses nothing: thousands come in a second. */

export interface Frame {
  /** Counts up over all connections of this page. */
  number: number;
  /** Milliseconds since 1970. */
  at: number;
  /** `opened` and `closed` are no frames: they say what became of a connection between two of them. */
  direction: 'in' | 'out' | 'opened' | 'closed';
  /** Characters of the whole frame. */
  size: number;
  /** The method of a request or a notification; of an answer, that of the request. */
  method: string | undefined;
  isAnswer: boolean;
  /** The whole of it, or where it is too long its beginning and its end. */
  text: string;
}

export interface Head {
  /** As it is written: a text with its quotation marks. */
  id: string | undefined;
  method: string | undefined;
}

const LONGEST = 4_000;
const TAIL = 400;
const HEAD = /^\{"jsonrpc":"2\.0"(?:,"id":("[^"]*"|\d+))?(?:,"method":"([^"]*)")?/;
const SESSION = /"params":\{"sessionId":"([^"]+)"/;
/** Not in the text of a message: there the quotation marks have a backslash in front. */
const CURSOR = /"cursor":"([^"\\]+)"/g;

/** Both sides write the id and the method first. */
export function headOf(text: string): Head {
  const [, id, method] = HEAD.exec(text) ?? [];
  return { id, method };
}

/** How far a Session has been seen, where the frame says it. */
export function placeOf(text: string): { sessionId: string; cursor: string } | undefined {
  const sessionId = SESSION.exec(text.slice(0, TAIL))?.[1];
  const cursor = cursorOf(text.slice(-TAIL)) ?? cursorOf(text.slice(0, TAIL));
  return sessionId === undefined || cursor === undefined ? undefined : { sessionId, cursor };
}

export function cursorOf(text: string): string | undefined {
  return [...text.matchAll(CURSOR)].at(-1)?.[1];
}

/** What is kept of a frame. A part of a text keeps all of it in memory, so a part is written anew. */
export function shortened(text: string): string {
  if (text.length <= LONGEST) return text;
  const part = `${text.slice(0, LONGEST - TAIL)} … ${text.slice(-TAIL)}`;
  return JSON.parse(JSON.stringify(part)) as string;
}

export function isShortened({ size, text }: Pick<Frame, 'size' | 'text'>): boolean {
  return size !== text.length;
}
