import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { inspect, promisify } from 'node:util';
import { PROVIDERS } from '../../src/providers/index.ts';
import { answerOf, failsWith } from '../contracts/provider.ts';
import { startFakeOpenAi } from '../support/fake-openai.ts';
import { API_KEY, HTTP_DIALECTS, httpRig } from './rigs.ts';

for (const dialect of HTTP_DIALECTS) {
  test(`[P21] [PROV8] ${dialect}: the key is in the Authorization header and nowhere else`, async () => {
    await using rig = await httpRig(dialect);
    await answerOf(rig.provider);
    const [sent] = rig.fake.requests;
    assert.ok(sent);
    const { authorization, ...headers } = sent.headers;
    assert.equal(authorization, `Bearer ${API_KEY}`);
    assert.doesNotMatch(JSON.stringify([headers, sent.path, sent.body]), /canary/);
    const ours = ['accept', 'content-type', 'user-agent'];
    const transport = ['accept-encoding', 'accept-language', 'connection', 'content-length', 'host', 'sec-fetch-mode'];
    assert.deepEqual(Object.keys(headers).sort(), [...ours, ...transport].sort());
  });

  test(`[PROV8] ${dialect}: without a key a server of one's own gets no Authorization header`, async () => {
    await using fake = await startFakeOpenAi();
    for (const apiKey of [undefined, '']) await answerOf(PROVIDERS[dialect].create({ baseUrl: fake.baseUrl, apiKey }));
    assert.deepEqual(
      fake.requests.map((sent) => sent.headers.authorization),
      [undefined, undefined],
    );
  });

  test(`[PROV8] ${dialect}: a redirect is not followed: neither key nor prompt reach the other server`, async () => {
    await using other = await startFakeOpenAi();
    for (const status of [301, 302, 303, 307, 308]) {
      await using rig = await httpRig(dialect);
      rig.fake.respond(status, '', { location: `${other.baseUrl}/responses` });
      const error = await failsWith(rig.provider, 'provider_http_error');
      assert.match(error.message, /redirects to another address: set the base URL/);
      assert.equal(rig.fake.requests.length, 1);
    }
    assert.equal(other.requests.length, 0);
  });

  test(`[P21] [PROV9] ${dialect}: no failure carries the key, however deep one looks`, async () => {
    await using rig = await httpRig(dialect, { maxRetries: 0 });
    const echo = { error: { message: `key ${API_KEY}`, code: API_KEY, param: 'a', headers: API_KEY } };
    rig.fake.respond(401, echo);
    rig.fake.respond(500, echo, { 'x-request-id': 'r1' });
    rig.fake.respond(400, `no ${API_KEY}`);
    rig.will({ type: 'error', code: 'server_error', message: `key ${API_KEY}` });
    rig.will({ type: 'garbage', data: API_KEY });
    rig.will({ type: 'cut' });
    const failures = ['not_authenticated', 'provider_http_error', 'provider_http_error', 'provider_http_error'];
    for (const code of [...failures, 'invalid_response', 'network']) {
      const error = await failsWith(rig.provider, code);
      assert.doesNotMatch(inspect(error, { depth: null, showHidden: true }), /canary/);
    }
  });

  test(`[P21] [PROV10] ${dialect}: without a key nothing is asked of OpenAI, and the message says what to do`, async () => {
    const provider = PROVIDERS[dialect].create({ fetch: () => assert.fail('no request may be made') });
    const error = await failsWith(provider, 'not_authenticated');
    assert.match(error.message, /set OPENAI_API_KEY/);
  });

  test(`[PROV8] ${dialect}: a base URL that is none, or holds a password, is refused at once and not shown`, () => {
    for (const baseUrl of ['localhost:8080', 'ftp://host/v1', 'http://user:canary@host/v1', 'canary']) {
      const create = () => PROVIDERS[dialect].create({ baseUrl });
      assert.throws(create, { name: 'CoreError', code: 'config_invalid', message: /^(?!.*canary)/ });
    }
  });
}

test('[PROV8] a key may have white space around it, as files give it; one that cannot be a header is refused', async () => {
  await using rig = await httpRig('openai', { apiKey: `${API_KEY}\n` });
  await answerOf(rig.provider);
  assert.equal(rig.fake.requests[0]?.headers.authorization, `Bearer ${API_KEY}`);
  for (const apiKey of ['canary\nx', 'canary\u2026', 'two canaries']) {
    const create = () => PROVIDERS.openai.create({ apiKey });
    assert.throws(create, { code: 'config_invalid', message: /^(?!.*canar)/ });
  }
});

// In a process of its own: what it prints is looked at, and the package must not have been loaded before.
const SCRIPT = `
  import { registerHooks } from 'node:module';
  import { inspect } from 'node:util';
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === 'openai') console.log('loads openai');
      return next(specifier, context);
    },
  });
  const { PROVIDERS } = await import(process.argv[1]);
  const providers = ['openai', 'openai-chat'].map((id) => PROVIDERS[id].create({ baseUrl: process.argv[2], apiKey: 'sk-canary-1' }));
  console.log('created');
  const request = { model: 'm', effort: 'default', instructions: 'i', developerContext: '', history: [], tools: [], cacheKey: 'k' };
  for (const provider of providers) {
    try {
      for await (const event of provider.stream(request, new AbortController().signal)) console.log(event.type);
    } catch (error) {
      console.log(inspect(error, { depth: null }));
    }
  }
`;

test('[P21] [PROV8] [PROV19] the package loads at the first call, logs nothing, and takes nothing from the environment', async () => {
  await using fake = await startFakeOpenAi();
  fake.respond(500, { error: { message: 'sk-canary-1' } }, { 'retry-after': '3600' });
  const table = import.meta.resolve('../../src/providers/index.ts');
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', SCRIPT, table, fake.baseUrl],
    {
      env: {
        OPENAI_API_KEY: 'sk-canary-2',
        OPENAI_ADMIN_KEY: 'sk-canary-3',
        OPENAI_BASE_URL: 'http://127.0.0.1:1/canary',
        OPENAI_ORG_ID: 'canary-org',
        OPENAI_PROJECT_ID: 'canary-project',
        OPENAI_WEBHOOK_SECRET: 'canary-secret',
        OPENAI_CUSTOM_HEADERS: 'authorization: canary\nx-custom: canary',
        OPENAI_LOG: 'debug',
      },
    },
  );
  assert.equal(stderr, '');
  assert.match(stdout, /^created\nloads openai\nCoreError: \[key\]\n/);
  assert.match(stdout, /delta\n(delta\n)*message\nfinished\n$/);
  assert.doesNotMatch(stdout, /canary/);
  for (const { headers } of fake.requests) {
    assert.equal(headers.authorization, 'Bearer sk-canary-1');
    assert.doesNotMatch(JSON.stringify({ ...headers, authorization: '' }), /canary/);
  }
  assert.equal(fake.requests.length, 2);
});
