/** What travels: whole messages, as UTF-8, however they are cut on the way. */
import type { Client } from '../client.ts';
import type { Frame } from '../frame.ts';
import { expect, isObject, type Requirement, restingOn, show } from '../requirement.ts';
import type { Ending } from '../transport.ts';
import { initialize } from '../world.ts';

const MEBIBYTE = 1 << 20;

export const transport: Requirement[] = [
  {
    id: 'TRANSPORT-001',
    level: 'MUST',
    title: 'every line or frame is exactly one JSON-RPC 2.0 message',
    cases: ['C001'],
    observe: (clients) => eachFrame(clients, (frame) => expect(isMessage(frame), `not a message: ${show(frame.text)}`)),
  },
  {
    id: 'TRANSPORT-002',
    level: 'MUST',
    title: 'messages are UTF-8',
    cases: ['C001'],
    observe: (clients) => eachFrame(clients, (frame) => expect(frame.isUtf8, `not UTF-8: ${show(frame.text)}`)),
  },
  ...restingOn('EXT-001', [
    {
      id: 'C014',
      level: 'SHOULD',
      title: 'two messages in one write, one in many, CRLF and blank lines are read',
      over: 'stdio',
      async run(world) {
        const client = await world.agent();
        const line = (id: string) =>
          `{"jsonrpc":"2.0","id":"${id}","method":"_conformance/ping","params":{"text":"é"}}`;
        client.transport.sendRaw(`${line('cut 1')}\n${line('cut 2')}\n`);
        for (const byte of Buffer.from(`${line('cut 3')}\n`)) client.transport.sendRaw(Uint8Array.of(byte));
        client.transport.sendRaw(`\n${line('cut 4')}\r\n\n`);
        for (const n of [1, 2, 3, 4]) {
          await client.frame(0, ({ id }) => id === `cut ${n}`, `message ${n}, cut as a pipe may cut it`);
        }
      },
    },
    {
      id: 'C015',
      level: 'SHOULD',
      title: 'a message of 1 MiB is answered; one of 40 MiB is answered, or refused aloud',
      async run(world) {
        const client = await world.fresh();
        await initialize(client);
        const big = (size: number) => client.request('_conformance/ping', { text: 'x'.repeat(size) });
        await big(MEBIBYTE);
        const answer = await Promise.race([big(40 * MEBIBYTE).catch(() => undefined), client.transport.closed]);
        if (answer && 'id' in answer) return;
        expect(client.ending, 'a message of 40 MiB is neither answered nor refused');
        expect(isLoud(client, client.ending), `a message of 40 MiB ends it silently: ${client.ending.reason}`);
      },
    },
    {
      id: 'C017',
      level: 'MAY',
      title: 'a hundred requests at once are each answered once',
      async run(world) {
        const client = await world.agent();
        const start = client.frames.length;
        await Promise.all(
          Array.from({ length: 100 }, (_, n) => client.request('_conformance/ping', {}, `hundred ${n}`)),
        );
        await client.fence();
        const ids = client.frames.slice(start).flatMap(({ from, message }) => (from === 'agent' ? [message?.id] : []));
        for (let n = 0; n < 100; n++) {
          expect(ids.filter((id) => id === `hundred ${n}`).length === 1, `request ${n} of 100 was not answered once`);
        }
      },
    },
  ]),
  {
    id: 'STDERR-001',
    level: 'MAY',
    title: 'stderr carries a log and no messages',
    over: 'stdio',
    observe(clients) {
      for (const { transport } of clients) {
        const stray = transport
          .stderr()
          .split('\n')
          .find((line) => line.startsWith('{"jsonrpc"'));
        expect(stray === undefined, `a message on stderr: ${show(stray)}`);
      }
    },
  },
];

function eachFrame(clients: readonly Client[], check: (frame: Frame) => void): void {
  for (const frame of clients.flatMap(({ said }) => said)) check(frame);
}

function isMessage({ message }: Frame): boolean {
  if (message?.jsonrpc !== '2.0') return false;
  const { id, method, params } = message;
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') return false;
  if (method !== undefined) {
    return typeof method === 'string' && (params === undefined || isObject(params) || Array.isArray(params));
  }
  return id !== undefined && ('result' in message || 'error' in message);
}

function isLoud({ transport }: Client, { code }: Ending): boolean {
  if (transport.kind === 'websocket') return code === 1009 || code === 1008;
  return code !== 0 && transport.stderr() !== '';
}
