/**
 * What reading either dialect needs: text that streams, items that must not mix, arguments that are JSON by hope. It
 * knows neither API.
 */
import * as z from 'zod';
import type { Json } from '../core/event.ts';
import type { ProviderEvent } from '../core/provider.ts';
import { invalidResponse } from './openai-errors.ts';

/** A count that a server reports; one it does not report is nothing to fail over. */
export const tokenCount = z.number().int().nonnegative().catch(0);

/** The text of one item while it streams. `value` is always exactly what its deltas gave. */
export interface LiveText {
  readonly kind: 'message' | 'thought';
  readonly value: string;
  /** @param paragraph a new one begins after a blank line. */
  add(text: string, paragraph?: string): ProviderEvent[];
}

export function liveText(kind: 'message' | 'thought'): LiveText {
  let value = '';
  let current: string | undefined;
  return {
    kind,
    get value() {
      return value;
    },
    add(text, paragraph = '') {
      if (!text) return [];
      const piece = value && paragraph !== current ? `\n\n${text}` : text;
      current = paragraph;
      value += piece;
      return [{ type: 'delta', kind, text: piece }];
    },
  };
}

/**
 * Completes a message. What was shown is never taken back: of the server's whole text only an end that is still
 * missing counts. A message without text is none.
 */
export function completeMessage(text: LiveText, whole: string): ProviderEvent[] {
  const events = whole.startsWith(text.value) ? text.add(whole.slice(text.value.length)) : [];
  return text.value ? [...events, { type: 'message', text: text.value }] : events;
}

/** One item of an answer and what it has to say once the items before it are complete. */
export interface Item {
  text: LiveText | null;
  closed: boolean;
  said: ProviderEvent[];
}

/** The items of one answer, in the order in which they began. */
export interface ItemQueue {
  /** The item at this place: the last one that began there. */
  at(place: number): Item;
  /** Begins an item. Some servers number all of them 0, so one that follows a closed one at its place is another. */
  begin(place: number): void;
  /** All that may be said now: what complete items have, and what there is of the first open one. */
  release(): ProviderEvent[];
  open(): Item[];
}

export function itemQueue(): ItemQueue {
  const order: Item[] = [];
  const places = new Map<number, Item>();

  function create(place: number): Item {
    const item: Item = { text: null, closed: false, said: [] };
    order.push(item);
    places.set(place, item);
    return item;
  }

  return {
    at: (place) => places.get(place) ?? create(place),
    begin(place) {
      if (places.get(place)?.closed) create(place);
    },
    release() {
      const events: ProviderEvent[] = [];
      while (order[0]) {
        events.push(...order[0].said.splice(0));
        if (!order[0].closed) break;
        order.shift();
      }
      return events;
    },
    open: () => order.filter((item) => !item.closed),
  };
}

/** The arguments of a call. What is no JSON object is handed on as text: the Executor refuses it, the model mends it. */
export function parseArguments(text: string): Json {
  if (!text.trim()) return {};
  return parseObject(text) ?? text;
}

export function parseObject(text: string): Json | null {
  try {
    const value: Json = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** @throws CoreError `invalid_response`: a name outside these characters would poison every later request. */
export function requireName(name: string | null | undefined): string {
  if (name && /^[\w.:-]{1,64}$/.test(name)) return name;
  throw invalidResponse('a tool call without a usable name');
}
