/**
 * Colours for code, from a worker that starts with the first request. What was coloured lately is remembered. Too long
 * code, and languages that we do not know, stay as they are: highlighting is never a reason to wait.
 */
import { type Language, languageOf } from './languages.ts';

export type TokenKind =
  | 'constant'
  | 'string'
  | 'comment'
  | 'keyword'
  | 'parameter'
  | 'function'
  | 'string-expression'
  | 'punctuation'
  | 'link'
  | 'inserted'
  | 'deleted'
  | 'changed';

interface CodeToken {
  text: string;
  kind: TokenKind | undefined;
}

export type CodeLine = readonly CodeToken[];

export type ToWorker = { id: number; code: string; language: Language } | { cancel: number };
export interface FromWorker {
  id: number;
  lines: readonly CodeLine[] | undefined;
}

type Lines = readonly CodeLine[] | undefined;

const LONGEST = 60_000;
const REMEMBERED = 2_000_000;
/** A grammar can run away with hostile code: then the worker ends, and that code stays plain. */
const PATIENCE_MS = 8_000;

const known = new Map<string, Lines>();
let knownSize = 0;
let worker: Worker | undefined;
let lastId = 0;
const asked = new Map<number, (lines: Lines) => void>();
let watch: ReturnType<typeof setTimeout> | undefined;

/** Its colours if they are known already. */
export function highlighted(code: string, lang: string): Lines {
  return known.get(`${languageOf(lang)}\n${code}`);
}

/**
 * @param lang a language's name, or a path.
 * @param signal the answer is not wanted any more: it may be undefined then.
 * @returns the lines of `code` in coloured pieces; undefined: draw it plain.
 */
export async function highlight(code: string, lang: string, signal?: AbortSignal): Promise<Lines> {
  const language = languageOf(lang);
  if (!language || code.length > LONGEST || signal?.aborted) return undefined;
  const key = `${language}\n${code}`;
  if (known.has(key)) return known.get(key);

  const id = ++lastId;
  const lines = await new Promise<Lines>((resolve) => {
    asked.set(id, resolve);
    send({ id, code, language });
    signal?.addEventListener('abort', () => {
      if (!asked.delete(id)) return;
      send({ cancel: id });
      resolve(undefined);
    });
  });
  if (!signal?.aborted) remember(key, lines);
  return lines;
}

function remember(key: string, lines: Lines): void {
  if (known.has(key)) return;
  known.set(key, lines);
  knownSize += key.length;
  for (const oldest of known.keys()) {
    if (knownSize <= REMEMBERED) return;
    known.delete(oldest);
    knownSize -= oldest.length;
  }
}

function send(message: ToWorker): void {
  worker ??= start();
  worker.postMessage(message);
  if (asked.size > 0) watch ??= setTimeout(giveUp, PATIENCE_MS);
}

function start(): Worker {
  const made = new Worker(new URL('./highlight.worker.ts', import.meta.url), { type: 'module' });
  made.addEventListener('message', ({ data: { id, lines } }: MessageEvent<FromWorker>) => {
    clearTimeout(watch);
    watch = undefined;
    asked.get(id)?.(lines);
    asked.delete(id);
    if (asked.size > 0) watch = setTimeout(giveUp, PATIENCE_MS);
  });
  made.addEventListener('error', giveUp);
  return made;
}

function giveUp(): void {
  clearTimeout(watch);
  watch = undefined;
  worker?.terminate();
  worker = undefined;
  for (const resolve of asked.values()) resolve(undefined);
  asked.clear();
}
