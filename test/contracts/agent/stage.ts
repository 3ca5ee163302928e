/** What the cases of the agent contract are written with. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenPeer } from '../../../src/acp/transport.ts';
import { call, finish, say } from '../../../src/providers/script.ts';
import { RpcError, type WireClient } from '../../support/wire-client.ts';
import { type World, type WorldOptions, world } from '../../support/world.ts';

/** Connects one more client over the transport under test; whatever it opened ends with the test. */
export type Connect = (open: OpenPeer, defer: (end: () => unknown) => void) => Promise<WireClient>;

export interface Stage {
  w: World;
  client: WireClient;
  /** A further client, initialized. */
  another(): Promise<WireClient>;
  /** A further client, initialized with these capabilities. */
  connect(capabilities: unknown): Promise<WireClient>;
  /** A further client that asked for cursors. */
  withCursors(): Promise<WireClient>;
}

export type On = (name: string, options: WorldOptions, run: (stage: Stage) => Promise<void>) => void;

/** Declares cases that run over one transport. */
export function casesOn(transport: string, connect: Connect): On {
  return (name, options, run) => {
    test(`${name} (${transport})`, async () => {
      await using stack = new AsyncDisposableStack();
      const w = stack.use(await world(options));
      const opened: WireClient[] = [];
      const open = async (capabilities: unknown) => {
        const client = await connect(w.openPeer, (end) => stack.defer(async () => void (await end())));
        opened.push(client);
        await client.initialize(capabilities);
        return client;
      };
      const another = () => open({});
      const withCursors = () => open({ _meta: { pixir: { cursor: 1 } } });
      await run({ w, client: await another(), another, connect: open, withCursors });
      for (const client of opened) client.assertSound();
    });
  };
}

export const rejects = (promise: Promise<unknown>, code: number, data?: Record<string, unknown>) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof RpcError, String(error));
    assert.equal(error.code, code, error.message);
    if (data) assert.deepEqual({ ...error.data, ...data }, error.data);
    return true;
  });

export const kinds = (client: WireClient) => client.updates().map(({ sessionUpdate }) => sessionUpdate);

export const poking = [
  [call('c1', 'poke', { text: 'x' }), finish()],
  [...say('Done.'), finish()],
];
export const ask: WorldOptions = { script: poking, settings: { permissionCeiling: 'ask' } };
export const selected = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } });

/** Half a sentence, and the rest of it when the gate `go` is opened. */
export function streaming() {
  const part = (text: string) => ({ type: 'delta' as const, kind: 'message' as const, text });
  const whole = { type: 'message' as const, text: 'Half a sentence.' };
  return { script: [[part('Half a '), { type: 'wait' as const, gate: 'go' }, part('sentence.'), whole, finish()]] };
}
