import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { OpenPeer, Transport } from '../../src/acp/transport.ts';
import { adviceOn } from '../../src/client/close-codes.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { startServer, TOKEN } from '../server/support.ts';
import { REPOSITORY } from '../support/processes.ts';
import { world } from '../support/world.ts';
import { connectWebSocket } from '../support/ws-wire.ts';

const page = await readFile(join(REPOSITORY, 'docs', 'reconnect.md'), 'utf8');

interface Options {
  url: string;
  headers: Record<string, string>;
  sessionId: string;
  show(transcript: Map<string, unknown>): void;
  decide(request: unknown): Promise<unknown>;
}

/** Peers that end each connection after so many frames, and the newest one when told to. */
function cutting(open: OpenPeer, frames: number): { openPeer: OpenPeer; end(code: number): void } {
  let newest: Transport | undefined;
  const openPeer: OpenPeer = (transport, principal) => {
    newest = transport;
    let left = frames;
    const cut: Transport = {
      send(text) {
        transport.send(text);
        left--;
        if (left === 0) transport.close(1012, 'cut');
      },
      close: transport.close,
      get bufferedAmount() {
        return transport.bufferedAmount;
      },
      onDrain: transport.onDrain,
    };
    return open(cut, principal);
  };
  return { openPeer, end: (code) => newest?.close(code, 'the end') };
}

test('[DOC1] the client of docs/reconnect.md has 40 lines and, cut off again and again, loses nothing', async (t) => {
  const code = page.match(/```js\n([\s\S]*?)```/)?.[1] ?? '';
  assert.ok(code.trimEnd().split('\n').length <= 40, 'forty lines');
  const { follow } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    follow(options: Options): (text: string) => Promise<unknown>;
  };
  const first = 'a sentence of ten words, every one of them a frame. ';
  const script = [
    [...say(first), call('c1', 'poke', { text: 'x' }), finish()],
    [...say('Done.'), finish()],
  ];
  await using w = await world({ script, settings: { permissionCeiling: 'ask' } });
  const peers = cutting(w.openPeer, 6);
  const server = await startServer(t, { openPeer: peers.openPeer });
  const plain = await connectWebSocket({ url: server.url.replace(/^ws(.*)\/acp/, 'http$1'), token: TOKEN });
  await plain.client.initialize();
  const sessionId = await plain.client.newSession(w.dir);
  plain.socket.terminate();

  let shown = new Map<string, unknown>();
  const prompt = follow({
    url: server.url,
    headers: { authorization: `Bearer ${TOKEN}` },
    sessionId,
    show: (transcript) => {
      shown = transcript;
    },
    decide: async () => ({ outcome: 'selected', optionId: 'allow' }),
  });
  assert.deepEqual(await prompt('go'), { stopReason: 'end_turn' });
  const texts = [...shown.values()].filter((item) => typeof item === 'string');
  assert.deepEqual(texts.slice(-2), [first, 'Done.']);
  assert.equal((shown.get('c1') as { status: string }).status, 'completed');
  assert.equal((await w.types(sessionId)).filter((type) => type === 'turn_finished').length, 1);
  peers.end(4403);
});

test('[DOC2] the table of close codes on the page is the one in the code', () => {
  const rows = [...page.matchAll(/^\| ([\d, ]+) \| .* \| (.*) \|$/gm)];
  const codes = rows.flatMap(([, listed = '', advice = '']) =>
    listed.split(', ').map((code) => [Number(code), advice]),
  );
  assert.deepEqual(
    codes.map(([code]) => code),
    [1000, 1001, 1006, 1009, 1012, 4400, 4401, 4403, 4408, 4429, 4500],
  );
  for (const [code, advice] of codes as [number, string][]) {
    const told = adviceOn(code);
    assert.equal(told.kind, /^(stop|sign in)/.test(advice) ? 'stop' : 'retry', `${code}`);
    if (told.kind === 'retry') assert.equal(told.atLeastMs, advice.includes('5 s') && code === 4429 ? 5_000 : 0);
  }
});
