import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CoreError } from '../../src/core/errors.ts';
import { serverError } from '../../src/providers/openai-errors.ts';
import { failsWith } from '../contracts/provider.ts';
import { API_KEY, HTTP_DIALECTS, httpRig } from './rigs.ts';

const KEY = { apiKey: API_KEY };
const http = (status: number, body: unknown) => serverError(body, { status, ...KEY });
const inBand = (code: string, message: string, type = '') =>
  serverError({ code, message, type }, { status: null, ...KEY });
const codes = (errors: CoreError[]) => errors.map((error) => error.code);

for (const dialect of HTTP_DIALECTS) {
  test(`[P14] [PROV5] [PROV9] ${dialect}: a used-up plan is said with its name and minutes, and not tried again`, async () => {
    await using rig = await httpRig(dialect);
    const error = { type: 'usage_limit_reached', plan_type: 'pro', resets_in_seconds: 3600, message: 'limit' };
    rig.fake.respond(429, { error });
    const failure = await failsWith(rig.provider, 'usage_limit_reached');
    assert.match(failure.message, /pro plan/);
    assert.match(failure.message, /~60 min/);
    assert.equal(rig.fake.requests.length, 1);
  });

  test(`[P15] [PROV9] ${dialect}: a plain 429 is rate_limited`, async () => {
    await using rig = await httpRig(dialect, { maxRetries: 0 });
    rig.fake.respond(429, { error: { message: 'Slow down.', code: 'rate_limit_exceeded' } });
    assert.equal((await failsWith(rig.provider, 'rate_limited')).message, 'Slow down.');
  });

  test(`[P16] [PROV9] ${dialect}: a 400 that names the model is model_not_supported`, async () => {
    await using rig = await httpRig(dialect);
    rig.fake.respond(400, { detail: "The 'model-1' model is not supported when using this account." });
    await failsWith(rig.provider, 'model_not_supported');
  });

  test(`[P17] [PROV9] ${dialect}: an overflow is context_overflow, an unrelated 400 is not`, async () => {
    await using rig = await httpRig(dialect);
    rig.fake.respond(400, { error: { code: 'context_length_exceeded', message: 'Too much.' } });
    rig.fake.respond(413, { error: 'prompt is too long: 300000 tokens > 200000 maximum' });
    rig.fake.respond(400, { error: { message: "Invalid value for 'tools'.", param: 'tools[0].name' } });
    await failsWith(rig.provider, 'context_overflow');
    await failsWith(rig.provider, 'context_overflow');
    const error = await failsWith(rig.provider, 'provider_http_error');
    assert.deepEqual(error.details, { retryable: false, status: 400, param: 'tools[0].name' });
  });

  test(`[PROV9] ${dialect}: a refused key is not_authenticated and says what to do`, async () => {
    await using rig = await httpRig(dialect);
    rig.fake.respond(401, { error: { message: `Incorrect API key provided: ${API_KEY}`, code: 'invalid_api_key' } });
    const error = await failsWith(rig.provider, 'not_authenticated');
    assert.equal(error.message, 'the model server refused the API key: check OPENAI_API_KEY, or run pixir login');
  });

  test(`[PROV9] ${dialect}: a server that nobody runs is network, with the system's code`, async () => {
    const rig = await httpRig(dialect, { maxRetries: 1 });
    await rig[Symbol.asyncDispose]();
    const error = await failsWith(rig.provider, 'network');
    assert.match(error.message, /^cannot reach 127\.0\.0\.1:\d+ \(ECONNREFUSED\)$/);
  });

  test(`[PROV4] ${dialect}: a page instead of a stream is invalid_response; an error in a 200 is that error`, async () => {
    await using rig = await httpRig(dialect);
    rig.fake.respond(200, '<html>Welcome to the hotel</html>', { 'content-type': 'text/html' });
    rig.fake.respond(200, { id: 'no stream' });
    rig.fake.respond(200, { error: { code: 'context_length_exceeded', message: 'Too much.' } });
    assert.match((await failsWith(rig.provider, 'invalid_response')).message, /did not answer with an event stream/);
    await failsWith(rig.provider, 'invalid_response');
    await failsWith(rig.provider, 'context_overflow');
  });

  test(`[PROV9] ${dialect}: the page of a proxy is not shown; its status is`, async () => {
    await using rig = await httpRig(dialect);
    rig.fake.respond(403, '<html><h1>Forbidden</h1></html>', { 'content-type': 'text/html', 'x-request-id': 'req-1' });
    const error = await failsWith(rig.provider, 'provider_http_error');
    assert.equal(error.message, 'the model server answered with status 403');
    assert.deepEqual(error.details, { retryable: false, status: 403, requestId: 'req-1' });
  });
}

test('[P13] [PROV9] errors inside a stream go by their code', () => {
  assert.deepEqual(
    codes([
      inBand('server_error', 'Oops.'),
      inBand('context_length_exceeded', 'Your input exceeds the window.'),
      inBand('rate_limit_exceeded', 'Slow down.'),
      inBand('invalid_api_key', 'No.'),
      inBand('502', 'Upstream.'),
    ]),
    ['provider_http_error', 'context_overflow', 'rate_limited', 'not_authenticated', 'provider_http_error'],
  );
  assert.deepEqual(
    ['server_error', 'overloaded', 'server_is_overloaded', 'service_unavailable_error', '502', 'other'].map(
      (code) => inBand(code, 'Oops.').details.retryable,
    ),
    [true, true, true, true, true, false],
  );
});

test('[P13] [PROV9] inside a stream an overflow by its message alone counts only for a faulty request', () => {
  const message = 'input exceeds the context window';
  assert.equal(inBand('', message).code, 'provider_http_error');
  assert.equal(inBand('', message, 'invalid_request_error').code, 'context_overflow');
});

test('[PROV9] the words of other servers', () => {
  assert.deepEqual(
    codes([
      http(404, { error: { message: 'model "llama9" not found, try pulling it first', type: 'api_error' } }),
      http(404, { error: { code: 'model_not_found', message: 'nope' } }),
      http(400, { error: { code: 400, type: 'exceed_context_size_error', message: 'too big' } }),
      http(400, { object: 'error', message: "This model's maximum context length is 4096 tokens.", code: 400 }),
      http(429, { error: { code: 'insufficient_quota', message: 'You exceeded your current quota.' } }),
      http(404, { detail: 'Not Found' }),
      http(422, { detail: [{ loc: ['body'], msg: 'field required' }] }),
      http(500, null),
    ]),
    [
      'model_not_supported',
      'model_not_supported',
      'context_overflow',
      'context_overflow',
      'usage_limit_reached',
      'provider_http_error',
      'provider_http_error',
      'provider_http_error',
    ],
  );
});

test('[PROV9] a message is one short line, without control characters and without the key', () => {
  const error = http(500, { error: { message: `a\u001b[31m\r\nb ${API_KEY} ${'long '.repeat(500)}` } });
  assert.match(error.message, /^a \[31m b \[key\] long/);
  assert.equal(error.message.length, 500);
});

test('[PROV9] details hold only what has the form of a name', () => {
  const body = { error: { message: 'no', code: 'a b', type: `x${'y'.repeat(99)}`, param: '"quoted"' } };
  const headers = new Headers({ 'x-request-id': 'ok-1' });
  assert.deepEqual(serverError(body, { status: 418, headers, ...KEY }).details, {
    retryable: false,
    status: 418,
    requestId: 'ok-1',
  });
});
