import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { judge } from '../../src/core/permission.ts';
import type { ToolContext } from '../../src/core/tool.ts';
import { createSandbox } from '../../src/tools/sandbox.ts';
import { serveSse, serveStreamable } from '../support/mcp-http.ts';
import { tempDir } from '../support/temp-dir.ts';
import { mcp } from '../support/world.ts';
import { alive, context, http, named, open, started, stdio } from './mcp-support.ts';
import { ground, processesWith, options as withSandbox } from './sandbox-support.ts';

test('[MCP1] the tools of a server are there over stdio, Streamable HTTP and SSE', async () => {
  await using streamable = await serveStreamable('canary');
  await using sse = await serveSse();
  const lists = [
    stdio('a'),
    http('a', streamable.url, { authorization: 'Bearer canary' }),
    http('a', sse.url, {}, 'sse'),
  ];
  for (const server of lists) {
    await using opened = await open([server]);
    assert.deepEqual(opened.statuses, [{ name: 'a', ok: true }], server.type);
    const tools = await opened.set.tools();
    const names = tools.map(({ name }) => name);
    assert.deepEqual(names, names.toSorted());
    const echo = named(tools, 'echo');
    assert.equal(echo.name, 'mcp__a__echo');
    assert.equal(echo.description, 'Says it again.');
    assert.deepEqual(echo.parameters, {
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
    });
    assert.deepEqual(await opened.call('echo', { text: 'ünder' }), { ok: true, output: 'ünder' });
  }
});

test('[MCP2] a name is what models take, and one tool has it', async () => {
  const long = 'n'.repeat(100);
  await using opened = await open([stdio('a b'), stdio('a.b'), stdio(long), stdio('a b')]);
  assert.deepEqual(opened.statuses.at(-1), {
    name: 'a b',
    ok: false,
    message: 'another MCP server of this list has its name',
  });
  const names = (await opened.set.tools()).map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  assert.equal(names.length, 3 * 10);
  for (const name of names) assert.match(name, /^mcp__[a-zA-Z0-9_-]{1,59}$/);
});

test('[MCP3] what a server says of its own harmlessness counts only where the operator believes it', async () => {
  const server = stdio('a');
  for (const { trusted, echo } of [
    { trusted: [], echo: 'execute' },
    { trusted: ['/bin/sh', 'https://example.org'], echo: 'execute' },
    { trusted: [server.command], echo: 'read' },
  ]) {
    await using opened = await open([server], { trusted });
    const tools = await opened.set.tools();
    assert.equal(named(tools, 'echo').effect({}), echo);
    assert.equal(named(tools, 'echo').kind, echo === 'read' ? 'read' : 'other');
    assert.equal(named(tools, 'poke').effect({}), 'execute');
    assert.equal(judge('read_only', named(tools, 'poke').effect({})), 'deny');
    assert.equal(judge('ask', named(tools, 'poke').effect({})), 'ask');
  }
  await using remote = await serveStreamable();
  await using opened = await open([http('a', remote.url)], { trusted: [remote.url] });
  assert.equal(named(await opened.set.tools(), 'echo').effect({}), 'network');
  await using believed = await open([http('a', remote.url)], { trusted: [new URL(remote.url).origin] });
  assert.equal(named(await believed.set.tools(), 'echo').effect({}), 'read');
});

test('[MCP6] a server that fails is named and disturbs no other; nothing of its settings is repeated', async () => {
  await using remote = await serveStreamable('other');
  const broken = [
    stdio('missing', { SECRET: 'canary' }, ['canary']),
    { ...stdio('nowhere'), command: '/canary/missing' },
    { ...stdio('nul'), args: ['canary\0'] },
    http('closed', 'http://127.0.0.1:1/canary', { authorization: 'canary' }),
    http('denied', remote.url, { authorization: 'Bearer canary' }),
    http('header', remote.url, { 'bad\nheader': 'canary' }),
    http('old', remote.url, {}, 'sse'),
  ];
  await using opened = await open([...broken, stdio('works')]);
  assert.deepEqual(
    opened.statuses.map(({ name, ok }) => [name, ok]),
    [...broken.map(({ name }) => [name, false]), ['works', true]],
  );
  for (const { message, ok } of opened.statuses)
    assert.ok(ok === (message === undefined) && !message?.includes('canary'), message ?? '');
  assert.equal(opened.statuses[4]?.message, 'the MCP server wants other credentials');
  assert.deepEqual(await opened.call('echo', { text: 'x' }), { ok: true, output: 'x' });
});

test('[MCP7] over the network only what the operator lists is started or called', async () => {
  await using remote = await serveStreamable();
  await using dir = await tempDir();
  const log = join(dir.path, 'log');
  const { origin, port } = new URL(remote.url);
  const refused = { commands: [], origins: [] };
  const almost = {
    commands: [`${process.execPath}x`, `/x/..${process.execPath}`],
    origins: [`http://localhost:${port}`],
  };
  const listed = { commands: [process.execPath], origins: [origin] };
  const servers = [stdio('a', { TEST_LOG: log }), http('b', remote.url)];
  for (const allowed of [refused, almost]) {
    await using opened = await open(servers, { allowed });
    assert.deepEqual(
      opened.statuses.map(({ ok, message }) => [ok, /PIXIR_MCP_(COMMANDS|ORIGINS)/.test(message ?? '')]),
      [
        [false, true],
        [false, true],
      ],
    );
  }
  await using variables = await open(servers, { allowed: listed });
  assert.deepEqual(
    variables.statuses.map(({ ok }) => ok),
    [false, true],
  );
  assert.deepEqual(started(log), []);
  for (const name of ['NODE_OPTIONS', 'LD_PRELOAD', 'PATH', 'BASH_ENV', 'PIP_INDEX_URL', 'x_TOKEN', 'A B_KEY']) {
    await using opened = await open([stdio('a', { [name]: 'canary' })], { allowed: listed });
    assert.equal(opened.statuses[0]?.ok, false, name);
    assert.ok(!opened.statuses[0]?.message?.includes('canary'));
  }
  await using credential = await open([stdio('a', { GITHUB_TOKEN: 'x' })], { allowed: listed });
  assert.deepEqual(credential.statuses, [{ name: 'a', ok: true }]);
});

test('[MCP8] what a tool answers is text for the model, bounded, and a failure is a failure', async () => {
  await using opened = await open([stdio('a')]);
  assert.deepEqual(await opened.call('rich'), {
    ok: true,
    output: [
      'see',
      '[image image/png, 12 kB]',
      '[resource file:///a.txt]',
      'in it',
      '[resource file:///b.bin, 3 bytes]',
      '[link https://example.org/x]',
    ].join('\n'),
  });
  assert.deepEqual(await opened.call('fail'), { ok: false, output: 'it did not work' });
  const { ok, output } = await opened.call('flood');
  assert.ok(ok && output.length < 17_000 && /bytes omitted/.test(output));
  const wrong = await opened.call('echo', { text: 7 });
  assert.ok(!wrong.ok && /text/.test(wrong.output), wrong.output);
  const tool = named(await opened.set.tools(), 'echo');
  assert.equal(tool.title({ text: 'a\nb\u202e' }), 'mcp__a__echo: {"text":"a\\nb\\u202e"}');
  assert.match((await tool.dryRun({}, context())).output, /^would call echo/);
});

test('[MCP9] a call that is cancelled or silent too long ends, and its server hears of it', async () => {
  await using dir = await tempDir();
  const log = join(dir.path, 'log');
  await using opened = await open([stdio('a', { TEST_LOG: log })], { times: { silenceMs: 300 } });
  const controller = new AbortController();
  const shown: string[] = [];
  const progress: ToolContext['progress'] = (text) => {
    shown.push(String(text));
    controller.abort();
  };
  await assert.rejects(opened.call('wait', {}, { signal: controller.signal, progress }), { code: 'cancelled' });
  assert.deepEqual(shown, ['half']);
  await assert.rejects(opened.call('wait', {}, { signal: AbortSignal.abort() }), { code: 'cancelled' });
  await assert.rejects(opened.call('wait'), { code: 'timeout' });
  // Answered after the cancels, so they have been read.
  assert.equal((await opened.call('echo', { text: 'on' })).output, 'on');
  assert.equal(readFileSync(log, 'utf8').match(/^cancelled$/gm)?.length, 2);
});

test('[MCP10] a server that ends fails its call only, and runs again for the next Turn', async () => {
  await using dir = await tempDir();
  const log = join(dir.path, 'log');
  await using opened = await open([stdio('a', { TEST_LOG: log }), stdio('b')]);
  const tools = await opened.set.tools();
  await assert.rejects(named(tools, 'die').run({}, context()), { code: 'command_failed' });
  await assert.rejects(named(tools, 'echo').run({ text: 'x' }, context()), { code: 'command_failed' });
  const other = tools.find(({ name }) => name === 'mcp__b__echo');
  assert.ok((await other?.run({ text: 'x' }, context()))?.ok);
  assert.equal(started(log).length, 1);
  assert.deepEqual(await opened.call('echo', { text: 'again' }), { ok: true, output: 'again' });
  assert.equal(started(log).length, 2);
});

test('[MCP10] over HTTP a server that has gone fails its call, also in the middle of it', async () => {
  const remote = await serveStreamable();
  await using opened = await open([http('a', remote.url)]);
  const tools = await opened.set.tools();
  let stopped: PromiseLike<void> | undefined;
  const progress = () => {
    stopped = remote[Symbol.asyncDispose]();
  };
  await assert.rejects(named(tools, 'wait').run({}, context({ progress })), { code: 'command_failed' });
  await stopped;
  assert.deepEqual(await opened.set.tools(), []);
});

test('[MCP10] tools that a server adds are there in the next Turn', async () => {
  await using opened = await open([stdio('a')]);
  const before = (await opened.set.tools()).length;
  await opened.call('more');
  assert.equal((await opened.call('extra')).output, 'extra');
  assert.equal((await opened.set.tools()).length, before + 1);
});

test('[MCP11] a server gets a short list of variables and its own, and no secret of ours', async () => {
  await using dir = await tempDir();
  const env = {
    PATH: `${dir.path}/bin:${process.env.PATH}`,
    HOME: '/nowhere',
    OPENAI_API_KEY: 'canary',
    PIXIR_TOKEN: 'canary',
  };
  const set = mcp({ env })([stdio('a', { MINE: 'yes' })], dir.path);
  await set.connect();
  const { output } = await named(await set.tools(), 'env').run({}, context());
  const seen = JSON.parse(output);
  assert.ok(!output.includes('canary') && !seen.PATH.includes(dir.path));
  assert.equal(seen.MINE, 'yes');
  assert.equal(seen.HOME, '/nowhere');
  await set.close();
});

test('[MCP5] nothing of a server survives its end, whatever it has started', async () => {
  await using dir = await tempDir();
  const log = join(dir.path, 'log');
  const opened = await open([stdio('a', { TEST_LOG: log })]);
  const grandchild = Number((await opened.call('spawn')).output);
  const pids = [...started(log), grandchild];
  assert.deepEqual(pids.map(alive), [true, true]);
  await opened[Symbol.asyncDispose]();
  assert.deepEqual(pids.map(alive), [false, false]);
});

test('[MCP5] what a server that ends by itself leaves behind is ended', async () => {
  await using opened = await open([stdio('a')]);
  const tools = await opened.set.tools();
  const grandchild = Number((await named(tools, 'spawn').run({}, context())).output);
  await assert.rejects(named(tools, 'die').run({}, context()), { code: 'command_failed' });
  assert.equal(alive(grandchild), false);
});

test('[MCP14] a server is confined as commands are', withSandbox, async () => {
  await using g = await ground();
  const sandbox = createSandbox({ mode: 'required', network: false, hidden: [g.data], env: g.env });
  const secrets = [join(g.home, '.ssh/id'), join(g.data, 'token')];
  const script = `
    const { existsSync } = require('node:fs');
    const answers = {
      initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
      'tools/list': { tools: [{ name: 'see', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: JSON.stringify({
        cwd: process.cwd(),
        seen: ${JSON.stringify(secrets)}.filter((path) => existsSync(path)),
        networks: Object.keys(require('node:os').networkInterfaces()).filter((name) => name !== 'lo'),
      }) }] },
    };
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] }));
    });`;
  const set = mcp({ env: g.env, sandbox })([stdio('a', {}, ['-e', script])], g.workspace);
  assert.deepEqual(await set.connect(), [{ name: 'a', ok: true }]);
  const { output } = await named(await set.tools(), 'see').run({}, context());
  assert.deepEqual(JSON.parse(output), { cwd: g.workspace, seen: [], networks: [] });
  await set.close();
  assert.deepEqual(processesWith(join(g.home, '.ssh/id')), []);
});

const LOADS = `
  import { registerHooks } from 'node:module';
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier.startsWith('@modelcontextprotocol/')) console.log('loads');
      return next(specifier, context);
    },
  });
  const { createMcp } = await import(process.argv[1]);
  const { noSandbox } = await import(process.argv[2]);
  const open = createMcp({ env: {}, sandbox: noSandbox, version: '1', allowed: null, trusted: [] });
  await open([], '/').connect();
  console.log('none');
  await open([{ type: 'http', name: 'a', url: 'http://127.0.0.1:1/', headers: [] }], '/').connect();`;

test('[MCP15] the client package is loaded with the first server', async () => {
  const modules = ['../../src/tools/mcp.ts', '../../src/tools/sandbox.ts'].map((path) => import.meta.resolve(path));
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', LOADS, ...modules]);
  assert.match(stdout, /^none\n(loads\n)+$/);
});
