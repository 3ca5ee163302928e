/** The envelope: ids, answers, and what is no request. */
import { type Answer, type Client, codeOf, FENCE } from '../client.ts';
import type { Frame, Message } from '../frame.ts';
import { expect, get, isObject, type Requirement, restingOn, show, skip } from '../requirement.ts';
import { expectError, newSession } from '../steps.ts';
import type { World } from '../world.ts';

const INVALID_REQUEST = -32600;

export const jsonrpc: Requirement[] = restingOn('INIT-001', [
  {
    id: 'EXT-001',
    level: 'MUST',
    title: 'a custom request gets some answer; a custom notification none',
    cases: ['C009'],
    async run(world) {
      const client = await world.agent();
      client.notify('_conformance/hello', { nobody: 'knows this' });
      await client.request('_conformance/ping', {});
    },
  },
  {
    id: 'JSONRPC-001',
    level: 'MUST',
    title: 'an id comes back with its value and type',
    restsOn: ['EXT-001'],
    cases: ['C002'],
    async run(world) {
      const client = await world.agent();
      for (const id of [7, 'abc', 0, '', -1, Number.MAX_SAFE_INTEGER, '7']) {
        const answer = await client.request('_conformance/ping', {}, id);
        expect(answer.id === id, `asked with the id ${show(id)}, answered with ${show(answer.id)}`);
      }
    },
  },
  {
    id: 'JSONRPC-002',
    level: 'MUST',
    title: 'an answer has exactly one of result and error; an error has an integer code and a text',
    cases: ['C018'],
    observe(clients) {
      for (const message of answers(clients)) {
        expect('result' in message !== 'error' in message, `not exactly one of result and error: ${show(message)}`);
        if (!('error' in message)) continue;
        const sound = Number.isInteger(get(message.error, 'code')) && typeof get(message.error, 'message') === 'string';
        expect(sound, `not an error object: ${show(message.error)}`);
      }
    },
  },
  ...restingOn('EXT-001', [
    { id: 'JSONRPC-003', level: 'MUST', title: 'a notification is never answered', cases: ['C004'], run: neverAnswers },
  ]),
  {
    id: 'JSONRPC-004',
    level: 'SHOULD',
    title: 'an unknown method is -32601',
    cases: ['C008'],
    async run(world) {
      const client = await world.agent();
      expectError(await client.request('conformance/unknown'), -32601, 'an unknown method');
    },
  },
  {
    id: 'JSONRPC-005',
    level: 'SHOULD',
    title: 'after errors it works as before',
    cases: ['C005'],
    async run(world) {
      const client = await world.agent();
      await client.request('conformance/unknown');
      await client.request('session/new', { cwd: 5 });
      await client.request('session/prompt', {});
      await newSession(world, client);
    },
  },
  {
    id: 'ERROR-001',
    level: 'SHOULD',
    title: 'the message of an error is one short line',
    cases: ['C016'],
    observe(clients) {
      const errors = answers(clients).filter((message) => isObject(message.error));
      if (errors.length === 0) skip('it answered nothing with an error');
      for (const { error } of errors) {
        const text = get(error, 'message');
        const isLine = typeof text === 'string' && text !== '' && !/[\r\n]/.test(text) && text.length <= 500;
        expect(isLine, `the message of an error: ${show(text)}`);
      }
    },
  },
  {
    id: 'C003',
    level: 'SHOULD',
    title: 'an id of null or 1.5 comes back; an object or a boolean is -32600 with id null',
    restsOn: ['EXT-001'],
    async run(world) {
      const client = await world.agent();
      for (const id of [null, 1.5]) {
        const answer = await client.request('_conformance/ping', {}, id);
        expect(answer.id === id, `asked with the id ${id}, answered with ${show(answer.id)}`);
      }
      for (const id of [{}, true]) await refuses(client, JSON.stringify({ jsonrpc: '2.0', id, method: '_x' }));
    },
  },
  {
    id: 'INFO-PARSE-001',
    level: 'MAY',
    title: 'what is not JSON is -32700 with id null; after it, and after torn UTF-8, the next request works',
    restsOn: ['EXT-001'],
    cases: ['C005'],
    async run(world) {
      const client = await world.agent();
      await refuses(client, '{"jsonrpc": broken', -32700);
      await client.request('_conformance/ping');
      if (client.transport.kind === 'websocket') return;
      const torn = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"_?"}\n'.replace('?', '\xff'), 'latin1');
      client.transport.sendRaw(torn);
      await client.request('_conformance/ping');
    },
  },
  {
    id: 'INFO-INVALIDREQ-001',
    level: 'MAY',
    title: 'JSON that is no request is -32600 with id null',
    restsOn: ['EXT-001'],
    cases: ['C007'],
    async run(world) {
      const client = await world.agent();
      const bad = [
        '{"foo":"bar"}',
        '42',
        '"x"',
        'null',
        '{}',
        '{"id":1,"method":"_x"}',
        '{"jsonrpc":"1.0","id":1,"method":"_x"}',
      ];
      for (const text of [...bad, '{"jsonrpc":"2.0","id":1,"method":5}']) await refuses(client, text);
    },
  },
  { id: 'C006', level: 'SHOULD', title: 'a batch is refused whole', restsOn: ['EXT-001'], run: refusesBatches },
  {
    id: 'C010',
    level: 'SHOULD',
    title: 'params that are absent or null are none; an array or a text is -32602',
    async run(world) {
      const client = await world.agent();
      for (const params of [[], 'x']) {
        expectError(await client.request('session/new', params), -32602, `params ${JSON.stringify(params)}`);
      }
      if (!isObject(get(client.initialized, 'agentCapabilities.sessionCapabilities.list'))) return;
      for (const params of ['', ',"params":null']) {
        const id = `params${params}`;
        const start = client.frames.length;
        client.transport.send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"session/list"${params}}`);
        const { result } = await client.frame(start, (message) => message.id === id, 'session/list without params');
        expect(isObject(result), `session/list is refused where params are ${params === '' ? 'absent' : 'null'}`);
      }
    },
  },
  {
    id: 'C011',
    level: 'SHOULD',
    title: 'answers that nobody asked for are ignored',
    restsOn: ['EXT-001'],
    async run(world) {
      const client = await world.agent();
      const start = client.frames.length;
      client.send({ jsonrpc: '2.0', id: 99_999, result: {} });
      client.send({ jsonrpc: '2.0', id: 'nobody', error: { code: 1, message: 'x' } });
      client.send({ jsonrpc: '2.0', id: 99_998, result: {}, error: { code: 1, message: 'x' } });
      await client.fence();
      expectOnlyFences(client, start);
    },
  },
  {
    id: 'C013',
    level: 'MAY',
    title: 'two requests with one id are both answered',
    restsOn: ['EXT-001'],
    async run(world) {
      const client = await world.agent();
      const start = client.frames.length;
      for (let n = 0; n < 2; n++) client.send({ jsonrpc: '2.0', id: 'twice', method: '_conformance/ping', params: {} });
      await client.fence();
      const count = client.frames
        .slice(start)
        .filter(({ from, message }) => from === 'agent' && message?.id === 'twice');
      expect(count.length === 2, `two requests with one id got ${count.length} answers`);
    },
  },
]);

function answers(clients: readonly Client[]): Message[] {
  return clients.flatMap(({ frames }) =>
    frames.flatMap(({ from, message }) => (from === 'agent' && message && !('method' in message) ? [message] : [])),
  );
}

async function neverAnswers(world: World): Promise<void> {
  const client = await world.agent();
  const start = client.frames.length;
  client.notify('conformance/unknown');
  client.notify('session/cancel', { sessionId: 5 });
  client.notify('session/cancel', 'x');
  client.notify('$/cancel_request', { requestId: 'nobody' });
  client.send({ jsonrpc: '2.0', method: 'session/new' });
  await client.fence();
  expectOnlyFences(client, start);
}

function expectOnlyFences({ frames }: Client, start: number): void {
  for (const { from, message, answers } of frames.slice(start)) {
    if (from === 'client' || !message || 'method' in message) continue;
    expect(answers?.method === FENCE, `an answer that nobody waits for: ${show(message)}`);
  }
}

async function refusesBatches(world: World): Promise<void> {
  const client = await world.agent();
  const start = client.frames.length;
  const [first, second] = [1, 2].map((n) => ({ jsonrpc: '2.0', id: `batch ${n}`, method: '_conformance/ping' }));
  await refuses(client, '[]');
  await refuses(client, JSON.stringify([first, second]));
  await refuses(client, JSON.stringify([{ jsonrpc: '2.0', method: 'session/cancel', params: {} }]));
  await client.fence();
  const mine = client.frames.slice(start).filter(({ from, text }) => from === 'agent' && text.includes('batch '));
  expect(mine.length === 0, `an entry of a batch was answered: ${show(mine[0]?.text)}`);
}

/** Sends what is no request: it has to be answered with this code and an id of null. */
async function refuses(client: Client, text: string, code = INVALID_REQUEST): Promise<void> {
  const start = client.frames.length;
  if (client.transport.kind === 'stdio') client.transport.sendRaw(`${text}\n`);
  else client.transport.sendRaw(text);
  await client.fence();
  const isRefusal = ({ from, message, answers }: Frame) =>
    from === 'agent' && isObject(message?.error) && answers?.method !== FENCE;
  const found = client.frames.slice(start).find(isRefusal);
  const answer: Answer = { id: found?.message?.id, error: found?.message?.error, at: 0 };
  expect(found, `${text} is not refused`);
  expect(codeOf(answer) === code && answer.id === null, `${text} is answered with ${show(found.text)}`);
}
