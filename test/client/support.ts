/** The reference client over a network that a test can break, with a clock that the test moves. */
import assert from 'node:assert/strict';
import { type Client, type ClientOptions, connect } from '../../src/client/connect.ts';
import type { ClientStorage } from '../../src/client/memory.ts';
import { ClientError } from '../../src/client/rpc.ts';
import type { Session } from '../../src/client/session.ts';
import { finish, say } from '../../src/providers/script.ts';
import { type ClientNetwork, clientNetwork } from '../support/client-network.ts';
import type { World, WorldOptions } from '../support/world.ts';

export interface Life {
  client: Client;
  network: ClientNetwork;
  /** Every state it said it was in, in order. */
  states: string[];
}

/** Connects a client to whatever `current` is at the moment of each connection. */
export function live(current: () => World, options: ClientOptions = {}): Life {
  const network = clientNetwork(
    () => current().openPeer,
    current().clock,
    () => 0.5,
  );
  const client = connect('ws://pixir', { ...options, ports: network.ports });
  const states: string[] = [];
  client.onState(({ kind }) => states.push(kind));
  return { client, network, states };
}

export function mapStorage(): ClientStorage & { kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
}

/** Lets everything happen that needs no clock. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

/** Waits until something is so, and moves the clock on meanwhile. */
export async function until(w: World, what: string, condition: () => boolean, step = 0): Promise<void> {
  for (let turn = 0; turn < 2_000; turn++) {
    if (condition()) return;
    await new Promise(setImmediate);
    if (step > 0) w.clock.advance(step);
  }
  assert.fail(`it never came about: ${what}`);
}

/** What a person reads, line by line. */
export function lines({ transcript }: Session): string[] {
  return transcript.items.map((item) => {
    if (item.type === 'user')
      return `user: ${item.content.map((block) => (block.type === 'text' ? block.text : '?')).join('|')}`;
    if (item.type === 'tool') return `tool: ${item.call.title} ${item.call.status}`;
    return `${item.type}: ${item.text}`;
  });
}

export const failsWith = (reason: string) => (error: unknown) =>
  error instanceof ClientError && error.reason === reason;

/** Half a sentence, and the rest of it when the gate `go` is opened; then another Turn. */
export function halting(): WorldOptions {
  const part = (text: string) => ({ type: 'delta' as const, kind: 'message' as const, text });
  const whole = { type: 'message' as const, text: 'Half a sentence.' };
  return {
    script: [
      [part('Half a '), { type: 'wait', gate: 'go' }, part('sentence.'), whole, finish()],
      [...say('More.'), finish()],
    ],
  };
}
