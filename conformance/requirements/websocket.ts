/** The WebSocket itself: who gets in, and what a frame is. */
import { expect, isObject, type Requirement, restingOn, show, skip } from '../requirement.ts';
import { connect, Refused, type Target } from '../transport.ts';
import type { World } from '../world.ts';

const OVER = { over: 'websocket' } as const;

export const websocket: Requirement[] = [
  {
    ...OVER,
    id: 'C092',
    level: 'SHOULD',
    title: 'the answer to the upgrade carries Acp-Connection-Id',
    async run(world) {
      const { transport } = await world.agent();
      expect(transport.headers['acp-connection-id'], 'there is no Acp-Connection-Id');
    },
  },
  {
    ...OVER,
    id: 'C092b',
    level: 'SHOULD',
    title: 'without its credential nobody gets in',
    async run(world) {
      const target = targetOf(world);
      if (Object.keys(target.headers).length === 0) skip('it is tested without a credential');
      await expectRefused({ ...target, headers: {} }, [401, 403], 'without a credential');
    },
  },
  {
    ...OVER,
    id: 'C092c',
    level: 'MAY',
    title: 'a page of somebody else does not get in',
    async run(world) {
      const { headers, ...target } = targetOf(world);
      const foreign = { ...headers, origin: 'https://conformance.example' };
      await expectRefused({ ...target, headers: foreign }, [401, 403], 'with a foreign Origin');
    },
  },
  {
    ...OVER,
    id: 'C092d',
    level: 'MAY',
    title: 'a plain GET and another path are refused as such',
    async run(world) {
      const { url, headers, ...target } = targetOf(world);
      const elsewhere = new URL('/conformance-nowhere', url).href;
      await expectRefused({ ...target, headers, url: elsewhere }, [400, 404], 'at another path');
      const { status } = await fetch(url.replace(/^ws/, 'http'), { headers: { ...headers } });
      expect([400, 405, 406, 426].includes(status), `a plain GET is answered with ${status}`);
    },
  },
  ...restingOn('EXT-001', [
    {
      ...OVER,
      id: 'C093',
      level: 'SHOULD',
      title: 'a frame is one message, with or without a newline at its end',
      async run(world) {
        const client = await world.agent();
        const message = (id: string) => JSON.stringify({ jsonrpc: '2.0', id, method: '_conformance/ping' });
        const start = client.frames.length;
        client.transport.sendRaw(`${message('newline')}\n`);
        await client.frame(start, ({ id }) => id === 'newline', 'a frame with a newline at its end');
        client.transport.sendRaw(`${message('two 1')}\n${message('two 2')}`);
        await client.fence();
        const two = client.frames
          .slice(start)
          .filter(({ message: m }) => String(m?.id).startsWith('two ') || m?.id === null);
        const refused = two.length === 1 && isObject(two[0]?.message?.error);
        expect(refused, `two messages in one frame are answered with ${show(two.map(({ text }) => text))}`);
      },
    },
    {
      ...OVER,
      id: 'C093b',
      level: 'MAY',
      title: 'a binary frame is ignored, or ends the connection',
      async run(world) {
        const client = await world.agent();
        const start = client.frames.length;
        client.transport.sendRaw(Buffer.from('{"jsonrpc":"2.0","id":"binary","method":"_conformance/ping"}'), 'binary');
        const silent = await Promise.race([client.fence().then(() => true), client.transport.closed.then(() => false)]);
        const answered = client.frames.slice(start).some(({ message }) => message?.id === 'binary');
        expect(!silent || !answered, 'a binary frame is answered');
      },
    },
  ]),
];

function targetOf({ target }: World): Extract<Target, { kind: 'websocket' }> {
  return target.kind === 'websocket' ? target : skip('it is not tested over WebSocket');
}

async function expectRefused(target: Target, statuses: readonly number[], how: string): Promise<void> {
  const outcome = await connect(target, () => undefined).catch((error: unknown) => error);
  if (outcome instanceof Refused) {
    expect(statuses.includes(outcome.status), `${how} it answers ${outcome.status}`);
    return;
  }
  if (isObject(outcome) && 'kill' in outcome) (outcome as { kill(): void }).kill();
  expect(outcome instanceof Error, `${how} somebody gets in`);
}
