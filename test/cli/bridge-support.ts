/** An editor behind a bridge, over a network that a test can break. */
import type { OpenPeer } from '../../src/acp/transport.ts';
import { createBridge } from '../../src/cli/bridge.ts';
import { clientNetwork } from '../support/client-network.ts';
import { connectInMemory } from '../support/memory-wire.ts';
import type { World } from '../support/world.ts';

interface EditorOptions {
  server?: () => OpenPeer;
  /** Comes back when the clock is moved on, instead of at once. */
  slowly?: boolean;
}

/** An editor behind a bridge, over a network that a test can break. */
export function editorOf(w: World, { server = () => w.openPeer, slowly = false }: EditorOptions = {}) {
  const net = clientNetwork(server, w.clock, () => (slowly ? 0.5 : 0));
  const log: string[] = [];
  const refused: string[] = [];
  const record = (_fields: object, message: string) => void log.push(message);
  const logger = { debug: record, info: record, warn: record, error: record };
  const address = () => ({ url: 'ws://server/acp', protocols: [], headers: {} });
  const onRefused = (reason: string) => void refused.push(reason);
  const connection = connectInMemory(createBridge({ address, logger, onRefused, ports: net.ports }));
  return { net, log, refused, connection, client: connection.client };
}

export type Editor = ReturnType<typeof editorOf>;

/** Cuts the connection instead of delivering the frames that `when` names, counted from 1. */
export function cutWhen({ net }: Editor, direction: 'in' | 'out', when: (frame: number) => boolean): () => number {
  let frames = 0;
  net.tap = (where) => {
    if (where !== direction) return true;
    frames++;
    if (!when(frames)) return true;
    net.cut();
    return false;
  };
  return () => frames;
}

/** Lets time pass until the bridge has come back. */
export async function comesBack(w: World, { net }: Pick<Editor, 'net'>): Promise<void> {
  const before = net.connections;
  while (net.connections === before) {
    await new Promise(setImmediate);
    w.clock.advance(1_000);
  }
}
