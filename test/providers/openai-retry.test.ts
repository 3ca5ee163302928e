import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { PROVIDERS } from '../../src/providers/index.ts';
import { answerOf, collect, failsWith, failureOf, itemsOf, USER_ASKS } from '../contracts/provider.ts';
import { gate, message } from '../support/fake-openai-steps.ts';
import { HTTP_DIALECTS, httpRig } from './rigs.ts';

const OVERLOADED = { error: { message: 'Overloaded.' } };

for (const dialect of HTTP_DIALECTS) {
  test(`[P18] [PROV5] ${dialect}: a 503 is retried once and then answered`, async () => {
    await using rig = await httpRig(dialect);
    rig.fake.respond(503, OVERLOADED);
    rig.will(message('Here.'));
    assert.deepEqual(itemsOf(await answerOf(rig.provider)), [{ message: 'Here.' }]);
    assert.equal(rig.fake.requests.length, 2);
    assert.deepEqual(rig.fake.requests[0]?.body, rig.fake.requests[1]?.body);
  });

  test(`[P18] [PROV5] ${dialect}: a 503 that stays is reported after three attempts, with growing waits`, async () => {
    const attempts: number[] = [];
    await using rig = await httpRig(dialect, { retryDelayMs: (attempt) => attempts.push(attempt) * 0 });
    for (let n = 0; n < 4; n += 1) rig.fake.respond(503, OVERLOADED);
    const error = await failsWith(rig.provider, 'provider_http_error');
    assert.equal(error.message, 'Overloaded.');
    assert.equal(error.details.status, 503);
    assert.equal(rig.fake.requests.length, 3);
    assert.deepEqual(attempts, [0, 1]);
  });

  test(`[PROV5] ${dialect}: a rate limit, a lost connection and a transient error in the stream are retried`, async () => {
    await using rig = await httpRig(dialect, { maxRetries: 3 });
    rig.fake.respond(429, OVERLOADED);
    rig.will({ type: 'cut' });
    rig.will({ type: 'error', code: 'server_error', message: 'Oops.' });
    rig.will(message('Here.'));
    assert.deepEqual(itemsOf(await answerOf(rig.provider)), [{ message: 'Here.' }]);
    assert.equal(rig.fake.requests.length, 4);
  });

  test(`[PROV5] ${dialect}: what has been seen is never asked for again`, async () => {
    await using rig = await httpRig(dialect);
    rig.will(message('Half an '), { type: 'error', code: 'server_error', message: 'Oops.' });
    const { events } = await failureOf(rig.provider);
    assert.ok(events.length > 0);
    assert.equal(rig.fake.requests.length, 1);
  });

  test(`[PROV5] ${dialect}: what would fail again is not retried`, async () => {
    await using rig = await httpRig(dialect);
    rig.fake.respond(400, { error: { message: 'Bad.' } });
    rig.fake.respond(401);
    rig.will({ type: 'garbage', data: '{' });
    await failsWith(rig.provider, 'provider_http_error');
    await failsWith(rig.provider, 'not_authenticated');
    await failsWith(rig.provider, 'invalid_response');
    assert.equal(rig.fake.requests.length, 3);
  });

  test(`[PROV6] ${dialect}: the server says how long to wait; more than a minute is reported instead`, async () => {
    await using rig = await httpRig(dialect);
    rig.fake.respond(429, OVERLOADED, { 'retry-after-ms': '40', 'retry-after': '3600' });
    const started = performance.now();
    await answerOf(rig.provider);
    assert.ok(performance.now() - started >= 39);
    rig.fake.respond(429, OVERLOADED, { 'retry-after': '61' });
    assert.equal((await failsWith(rig.provider, 'rate_limited')).details.retryAfterMs, 61_000);
    rig.fake.respond(503, OVERLOADED, { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() });
    assert.ok(Number((await failsWith(rig.provider, 'provider_http_error')).details.retryAfterMs) > 3_500_000);
    assert.equal(rig.fake.requests.length, 4);
  });

  test(`[PROV3] ${dialect}: an abort ends the wait before a repetition`, async () => {
    const stop = new AbortController();
    const reason = new Error('stopped by the user');
    const retryDelayMs = () => {
      queueMicrotask(() => stop.abort(reason));
      return 60_000;
    };
    await using rig = await httpRig(dialect, { retryDelayMs });
    rig.fake.respond(503, OVERLOADED);
    await assert.rejects(collect(rig.provider.stream(USER_ASKS, stop.signal)), (error) => error === reason);
    assert.equal(rig.fake.requests.length, 1);
  });

  test(`[PROV3] ${dialect}: an abort while the server has not answered ends the request`, async () => {
    await using rig = await httpRig(dialect);
    const stop = new AbortController();
    rig.will({ type: 'stall' });
    const answer = collect(rig.provider.stream(USER_ASKS, stop.signal));
    const request = await rig.fake.next();
    stop.abort(new Error('enough'));
    await assert.rejects(answer, { message: 'enough' });
    await request.abandoned;
  });

  test(`[P19] [PROV7] ${dialect}: a silent server is stream_idle_timeout, in one attempt, before and after it spoke`, async () => {
    const retryDelayMs = () => assert.fail('it must not be tried again');
    await using rig = await httpRig(dialect, { idleTimeoutMs: 50, retryDelayMs });
    rig.will({ type: 'stall' });
    const error = await failsWith(rig.provider, 'stream_idle_timeout');
    assert.equal(error.details.timeoutMs, 50);
    rig.will(message('I was '), { type: 'stall' });
    await failsWith(rig.provider, 'stream_idle_timeout');
    await Promise.all(rig.fake.requests.map((request) => request.abandoned));
  });

  test(`[P19] [PROV7] ${dialect}: a server that does not even send headers is stream_idle_timeout`, async () => {
    await using server = await silentServer();
    const provider = PROVIDERS[dialect].create({ baseUrl: server.url, idleTimeoutMs: 30 });
    await failsWith(provider, 'stream_idle_timeout');
  });
}

test('[PROV2] the next call uses the same connection, though the reader left when it had the answer', async () => {
  const sockets = new Set<unknown>();
  let seen = gate();
  // The end of the body comes a little after the end of the answer.
  await using server = await serverThat((response) => {
    sockets.add(response.socket);
    response.write(COMPLETED);
    seen.passed.then(
      () => response.end(),
      () => response.destroy(),
    );
  });
  const provider = PROVIDERS.openai.create({ baseUrl: server.url });
  for (let n = 0; n < 3; n += 1) {
    seen = gate();
    for await (const event of provider.stream(USER_ASKS, new AbortController().signal)) {
      if (event.type !== 'finished') continue;
      seen.open();
      break;
    }
    await setImmediate();
  }
  assert.equal(sockets.size, 1);
});

test('[PROV7] only the silence of the server counts, not that of a slow reader', async () => {
  const asked = gate();
  const encoder = new TextEncoder();
  async function* body() {
    yield encoder.encode('data: {"type":"response.output_text.delta","delta":"x"}\n\n');
    await asked.passed;
    yield encoder.encode('data: {"type":"response.completed","response":{}}\n\n');
  }
  // Answered in memory, so that nothing but the reader takes time.
  const answer = async () => new Response(ReadableStream.from(body()));
  const provider = PROVIDERS.openai.create({ idleTimeoutMs: 20, apiKey: 'k', fetch: answer });
  const events = provider.stream(USER_ASKS, new AbortController().signal)[Symbol.asyncIterator]();
  await events.next();
  await setTimeout(30);
  asked.open();
  assert.equal((await collect(events)).at(-1)?.type, 'finished');
});

test('[PROV14] a parameter that the server refuses by name is left out from then on', async () => {
  await using rig = await httpRig('openai');
  const refuse = (param: string) => rig.fake.respond(400, { error: { message: `Unsupported: ${param}`, param } });
  refuse('include');
  refuse('reasoning.summary');
  await answerOf(rig.provider);
  await answerOf(rig.provider);
  await answerOf(rig.provider, { ...USER_ASKS, model: 'model-2' });
  const sent = rig.fake.requests.map(({ body }) => ['include' in body, 'reasoning' in body]);
  assert.deepEqual(sent, [
    [true, true],
    [false, true],
    [false, false],
    [false, false],
    [true, true],
  ]);
});

test('[PROV14] a parameter that somebody chose is never left out', async () => {
  await using rig = await httpRig('openai');
  rig.fake.respond(400, { error: { message: 'Unsupported value.', param: 'reasoning.effort' } });
  await failsWith(rig.provider, 'provider_http_error', { ...USER_ASKS, effort: 'xhigh' });
  assert.equal(rig.fake.requests.length, 1);
});

test('[PROV14] chat: a server without stream options is asked without them', async () => {
  await using rig = await httpRig('openai-chat');
  rig.fake.respond(400, { error: { message: 'Unknown parameter.', param: 'stream_options' } });
  await answerOf(rig.provider);
  assert.deepEqual(
    rig.fake.requests.map(({ body }) => 'stream_options' in body),
    [true, false],
  );
});

test('[PROV1] a server that keeps the connection open after the end does not keep the reader', async () => {
  await using server = await lingeringServer();
  const provider = PROVIDERS.openai.create({ baseUrl: server.url });
  const started = performance.now();
  assert.equal((await answerOf(provider)).length, 1);
  assert.ok(performance.now() - started < 2000);
});

const COMPLETED = 'data: {"type":"response.completed","response":{}}\n\n';

async function serverThat(answers: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => answers(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const silentServer = () => serverThat(() => {});
const lingeringServer = () => serverThat((response) => response.write(COMPLETED));
