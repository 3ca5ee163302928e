/**
 * Frames for bug reports: what belongs to the protocol stays, what belongs to people is replaced by its length. It keeps
 * only what it knows to be harmless, so what is added to the protocol one day is hidden until somebody thinks of it.
 */
import { cursorOf, type Frame, isShortened } from '../server/frames.ts';

/** Members whose texts are names of the protocol's or of the server's making. */
const KEPT = new Set(
  `jsonrpc method id sessionId messageId toolCallId turnId permissionId optionId promptKey requestId ruleId cursor before
  head nextCursor sessionUpdate type kind status state role mode modeId currentModeId reason stopReason outcome
  decision priority version protocolVersion updatedAt createdAt expiresAt at`.split(/\s+/),
);
/** Members that are somebody's as a whole, with the names in them. */
const HIDDEN = new Set(['rawInput', 'rawOutput', 'env', 'headers', 'mcpServers', 'arguments', 'args', 'locations']);
const HARMLESS = /^[\w.:+/=-]{1,300}$/;
/** A method and a status look like a path to nobody, but a path looks like a status. */
const PATH = /^[/~]|\.\.|:\/\//;

export function redactedFrame(frame: Pick<Frame, 'size' | 'text' | 'direction'>): string {
  const { direction, text, size } = frame;
  if (direction === 'opened' || direction === 'closed') return text;
  if (isShortened(frame)) {
    const cursor = cursorOf(text);
    return JSON.stringify(cursor === undefined ? hidden(size) : { hidden: hidden(size), cursor });
  }
  try {
    return JSON.stringify(redacted(JSON.parse(text), ''));
  } catch {
    return JSON.stringify(hidden(size));
  }
}

function redacted(value: unknown, name: string): unknown {
  if (HIDDEN.has(name)) return hidden(JSON.stringify(value ?? null).length);
  if (typeof value === 'string') return isHarmless(name, value) ? value : hidden(value.length);
  if (Array.isArray(value)) return value.map((each) => redacted(each, name));
  if (typeof value !== 'object' || value === null) return value;
  const isHeads = name === 'heads';
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, redacted(inner, isHeads ? 'cursor' : key)]),
  );
}

function isHarmless(name: string, text: string): boolean {
  return KEPT.has(name) && HARMLESS.test(text) && (name === 'method' || !PATH.test(text));
}

function hidden(length: number): string {
  return `<${length} characters>`;
}
