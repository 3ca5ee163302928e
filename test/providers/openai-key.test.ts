import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { CoreError } from '../../src/core/errors.ts';
import { checkKey } from '../../src/providers/openai-key.ts';
import { unlessAborted } from '../../src/providers/wait.ts';
import { startFakeOpenAi } from '../support/fake-openai.ts';
import { API_KEY } from './rigs.ts';

async function addressOfNobody(): Promise<string> {
  await using fake = await startFakeOpenAi();
  return fake.baseUrl;
}

const never = new AbortController().signal;

test('[LOGIN2] [PROV8] one request for the list of models, with the key in one header, and nothing more', async () => {
  await using fake = await startFakeOpenAi();
  await checkKey({ apiKey: ` ${API_KEY}\n`, baseUrl: fake.baseUrl }, never);
  const [sent, ...more] = fake.requests;
  assert.ok(sent && more.length === 0);
  const { authorization, ...headers } = sent.headers;
  assert.deepEqual([sent.path, sent.body, authorization], ['/v1/models', null, `Bearer ${API_KEY}`]);
  assert.doesNotMatch(JSON.stringify(headers), /canary/);
});

test('[LOGIN3] [PROV9] whatever the server answers but its models is an error without the key', async () => {
  await using fake = await startFakeOpenAi();
  await using other = await startFakeOpenAi();
  const echo = { error: { message: `no ${API_KEY}`, code: API_KEY } };
  const answers: [number, unknown, string, Record<string, string>?][] = [
    [401, echo, 'not_authenticated'],
    [403, echo, 'provider_http_error'],
    [404, '', 'provider_http_error'],
    [429, echo, 'rate_limited'],
    [500, echo, 'provider_http_error'],
    [307, '', 'provider_http_error', { location: `${other.baseUrl}/models` }],
    [200, '<html>', 'invalid_response', { 'content-type': 'text/html' }],
    [200, 'fine', 'invalid_response'],
    [200, {}, 'invalid_response'],
    [200, [], 'invalid_response'],
  ];
  for (const [status, body, code, headers] of answers) {
    fake.respond(status, body, headers);
    await assert.rejects(checkKey({ apiKey: API_KEY, baseUrl: fake.baseUrl }, never), (error) => {
      assert.ok(error instanceof CoreError, inspect(error));
      assert.equal(error.code, code, error.message);
      assert.match(error.message, /^[^\n]+$/);
      assert.doesNotMatch(inspect(error, { depth: null, showHidden: true }), /canary/);
      return true;
    });
  }
  assert.deepEqual([fake.requests.length, other.requests.length], [answers.length, 0], 'no repetition, no redirect');
});

test('[LOGIN3] a server that is silent, or not there, and a person who gives up', async () => {
  const baseUrl = await addressOfNobody();
  const neverAnswers: typeof fetch = async (_url, init) =>
    (await unlessAborted(new Promise(() => {}), init?.signal ?? never)) as Response;
  const settings = { apiKey: API_KEY, baseUrl, fetch: neverAnswers };
  await assert.rejects(checkKey({ ...settings, idleTimeoutMs: 1 }, never), { code: 'stream_idle_timeout' });
  const person = new AbortController();
  const checking = checkKey(settings, person.signal);
  person.abort(new Error('enough'));
  await assert.rejects(checking, /enough/);
  await assert.rejects(checkKey({ apiKey: API_KEY, baseUrl }, never), { code: 'network', message: /cannot reach/ });
  for (const apiKey of ['sk-with space', 'sk-ünïcode', 'sk-\u0000'])
    await assert.rejects(checkKey({ apiKey, baseUrl }, never), { code: 'config_invalid' });
});
