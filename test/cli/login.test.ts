import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { login } from '../../src/cli/login.ts';
import { startFakeOpenAi } from '../support/fake-openai.ts';
import { call, message } from '../support/fake-openai-steps.ts';
import { packagedPixir } from '../support/package.ts';
import { environmentFor, runPixir, startPixir, startServer, type Variables } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { connectWebSocket } from '../support/ws-wire.ts';
import { load } from './config-support.ts';

const KEY = 'sk-canary-0123456789abcdef';
const bin = await packagedPixir();

/** A workspace with a data directory in it, a model server, and what `pixir` does there; nothing it prints may hold a key. */
async function ground(extra: Variables = {}) {
  await using stack = new AsyncDisposableStack();
  const { path: workspace } = stack.use(await tempDir());
  const path = join(workspace, 'data');
  const fake = stack.use(await startFakeOpenAi());
  const env = environmentFor(path, { OPENAI_BASE_URL: fake.baseUrl, PIXIR_PORT: '0', ...extra });
  const held = stack.move();
  return {
    workspace,
    path,
    fake,
    env,
    file: join(path, 'provider-key'),
    async pixir(args: string[], input = '') {
      const outcome = await runPixir(args, env, input, workspace, bin);
      assert.doesNotMatch(`${outcome.stdout}${outcome.stderr}`, /canary/);
      return outcome;
    },
    [Symbol.asyncDispose]: () => held[Symbol.asyncDispose](),
  };
}

test('[LOGIN2] [LOGIN4] a key that the server accepts is kept, used by what starts then, and forgotten when asked', async () => {
  await using g = await ground({ PIXIR_LOG_LEVEL: 'debug' });
  const done = await g.pixir(['login'], ` ${KEY} \r\nsomething else\n`);
  assert.deepEqual([done.code, done.stderr], [0, '']);
  assert.equal(g.fake.requests.at(-1)?.headers.authorization, `Bearer ${KEY}`);
  assert.equal((await stat(g.path)).mode & 0o777, 0o700);
  assert.equal(await readFile(g.file, 'utf8'), `${KEY}\n`);
  assert.equal((await stat(g.file)).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(g.path), ['provider-key'], 'no draft is left');

  assert.match((await g.pixir(['doctor'])).stdout, /ok {4}provider: openai, .+, with a key/);
  g.fake.answer(call('c1', 'bash', { command: 'env' }));
  g.fake.answer(call('c2', 'read', { path: 'data/provider-key' }));
  g.fake.answer(message('Done.'));
  assert.equal((await g.pixir(['run', 'look around', '--json'])).code, 0);
  assert.equal(g.fake.requests.at(-1)?.headers.authorization, `Bearer ${KEY}`);
  assert.doesNotMatch(JSON.stringify(g.fake.requests.at(-1)?.body), /canary|OPENAI_API_KEY/);

  assert.equal((await g.pixir(['login', '--remove'])).code, 0);
  assert.equal((await g.pixir(['login', '--remove'])).code, 0, 'there is nothing to remove');
  assert.match((await g.pixir(['doctor'])).stdout, /without a key/);
});

test('[LOGIN2] a server that starts afterwards uses the key', async () => {
  await using g = await ground();
  assert.equal((await g.pixir(['login'], KEY)).code, 0, 'the end of the input ends the line');
  await using server = await startServer(
    g.path,
    { OPENAI_BASE_URL: g.fake.baseUrl },
    ['--workspace', g.workspace],
    bin,
  );
  const { client } = await connectWebSocket(server);
  await client.initialize();
  await client.prompt(await client.newSession(g.workspace), 'hello');
  assert.equal(g.fake.requests.at(-1)?.headers.authorization, `Bearer ${KEY}`);
  client.assertSound();
});

test('[LOGIN3] [LOGIN4] what is refused or could not be checked changes nothing, and the message says which', async () => {
  await using g = await ground();
  await mkdir(g.path);
  await writeFile(g.file, 'sk-before\n', { mode: 0o600 });
  const echo = { error: { message: `Incorrect API key provided: ${KEY}`, code: 'invalid_api_key' } };
  const failures: [() => void, string, RegExp][] = [
    [() => g.fake.respond(401, echo), `${KEY}\n`, /refused the key/],
    [() => g.fake.respond(500, { error: { message: `broken by ${KEY}` } }), `${KEY}\n`, /broken by \[key\]/],
    [() => g.fake.respond(200, '<html>', { 'content-type': 'text/html' }), `${KEY}\n`, /did not answer with JSON/],
    [() => undefined, `${KEY} with-canary\n`, /characters that no key has/],
    [() => undefined, `${KEY}\u0007\u200b\n`, /characters that no key has/],
    [() => undefined, '', /no key was given/],
    [() => undefined, `\n${KEY}\n`, /no key was given/],
  ];
  for (const [prepare, input, why] of failures) {
    prepare();
    const { code, stdout, stderr } = await g.pixir(['login'], input);
    assert.deepEqual([code, stdout], [1, ''], input);
    assert.match(stderr, /^pixir: [^\n]+; nothing was changed\n$/);
    assert.match(stderr, why);
  }
  assert.equal(g.fake.requests.length, 3);
  const nobody = await runPixir(
    ['login'],
    { ...g.env, OPENAI_BASE_URL: await addressOfNobody() },
    KEY,
    g.workspace,
    bin,
  );
  assert.deepEqual([nobody.code, nobody.stdout], [1, '']);
  assert.match(nobody.stderr, /^pixir: cannot reach 127\.0\.0\.1:\d+ \(ECONNREFUSED\); nothing was changed\n$/);
  assert.equal(await readFile(g.file, 'utf8'), 'sk-before\n');
  assert.deepEqual(await readdir(g.path), ['provider-key']);
  assert.equal(
    (await g.pixir(['login', KEY])).code,
    2,
    'a key on the command line would stand in the list of processes',
  );
});

async function addressOfNobody(): Promise<string> {
  await using fake = await startFakeOpenAi();
  return fake.baseUrl;
}

test('[LOGIN3] ended while the server is asked, it keeps nothing', async () => {
  await using g = await ground();
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const asked = once(silent, 'request');
  const { port } = silent.address() as AddressInfo;
  const env = { ...g.env, OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
  await using waiting = startPixir(['login'], env, g.workspace, bin);
  waiting.child.stdin?.end(`${KEY}\n`);
  await asked;
  waiting.child.kill('SIGTERM');
  assert.equal((await waiting.exit()).code, 130);
  assert.deepEqual([waiting.stderr(), existsSync(g.path)], ['', false]);
  silent.close();
});

/** A terminal, as far as a command sees one. */
function terminal(env: Variables) {
  const raw: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (on: boolean) => raw.push(on) });
  const [stdout, stderr, person] = [new PassThrough(), new PassThrough(), new AbortController()];
  const io = { env, stdin, stdout, stderr, signal: person.signal };
  return { io, raw, person, said: () => Promise.all([stdout.end(), stderr.end()].map(text)) };
}

const ASKS = 'API key (it will not be shown): \n';

test('[LOGIN4] at a terminal the key can be edited and is not shown', async () => {
  await using g = await ground();
  const { io, raw, said } = terminal(g.env);
  const running = login.run([], io);
  assert.deepEqual(raw, [true], 'the terminal shows nothing by itself');
  io.stdin.write(`${KEY}xy\u007f\u007f\r`);
  assert.equal(await running, 0);
  assert.deepEqual(raw, [true, false], 'and is given back');
  assert.equal(await readFile(g.file, 'utf8'), `${KEY}\n`);
  assert.deepEqual(await said(), ['The key works and is stored; what starts from now on uses it.\n', ASKS]);
});

test('[LOGIN4] a person who gives up gets the terminal back, and nothing was changed', async () => {
  await using g = await ground();
  for (const end of ['\u0003', '\u0004']) {
    const { io, raw, said } = terminal(g.env);
    const running = login.run([], io);
    io.stdin.write(`${end === '\u0003' ? KEY : ''}${end}`);
    await assert.rejects(running, /no key was given; nothing was changed/);
    assert.deepEqual(
      [raw, await said()],
      [
        [true, false],
        ['', ASKS],
      ],
    );
  }
  const { io, raw, person } = terminal(g.env);
  const running = login.run([], io);
  person.abort('SIGTERM');
  assert.deepEqual([await running, raw], [130, [true, false]]);
  assert.deepEqual([g.fake.requests.length, existsSync(g.path)], [0, false]);
});

test('[LOGIN2] a stored key counts where nothing else sets one, and an empty file is none', async (t) => {
  const given = load(t, { env: {} });
  const file = join(given.dataDir, 'provider-key');
  await writeFile(file, ' stored\r\n');
  const { openaiApiKey, provider } = given.config();
  assert.deepEqual([openaiApiKey?.reveal(), provider], ['stored', 'openai']);
  await writeFile(given.path, '{"openaiApiKey": "written"}');
  assert.equal(given.config().openaiApiKey?.reveal(), 'written');
  await writeFile(given.path, '{}');
  await writeFile(file, '\n');
  assert.deepEqual([given.config().openaiApiKey, given.config().provider], [undefined, 'scripted']);
});
