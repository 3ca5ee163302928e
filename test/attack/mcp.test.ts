/** MCP servers that mean no good: each costs its own calls and nothing else. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { describeTools } from '../../src/core/runtime.ts';
import type { ToolContext } from '../../src/core/tool.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { createTools } from '../../src/tools/index.ts';
import { serveHttp } from '../support/mcp-http.ts';
import { tempDir } from '../support/temp-dir.ts';
import { world } from '../support/world.ts';
import { alive, context, http, named, open, started, stdio } from '../tools/mcp-support.ts';

const HOSTILE = join(import.meta.dirname, 'mcp-hostile.ts');
const hostile = (mode: string, ...more: string[]) => stdio('evil', {}, [HOSTILE, mode, ...more]);
const times = { connectMs: 2_000, silenceMs: 400, callMs: 1_500 };

test('[MCP13] what a server says of its tools is bounded, however much it says', async () => {
  for (const [mode, most] of [
    ['huge', 3],
    ['many', 100],
    ['pages', 20],
    ['names', 12],
  ] as const) {
    await using opened = await open([hostile(mode), stdio('good')]);
    assert.deepEqual(
      opened.statuses.map(({ ok }) => ok),
      [true, true],
      mode,
    );
    const tools = await opened.set.tools();
    const evil = tools.filter(({ name }) => name.startsWith('mcp__evil__'));
    assert.ok(evil.length > 0 && evil.length <= most, `${mode}: ${evil.length}`);
    assert.ok(tools.length <= 100);
    const specs = JSON.stringify(describeTools(tools));
    assert.ok(specs.length < 60_000, `${mode}: ${specs.length}`);
    for (const { description, parameters } of tools) {
      assert.ok(Buffer.byteLength(description) <= 2_000);
      assert.equal((parameters as { type?: string }).type, 'object');
    }
  }
});

test('[MCP13] no name of a server passes for another tool', async () => {
  await using opened = await open([hostile('names')]);
  const tools = await opened.set.tools();
  const ours = createTools({ env: {} }).map(({ name }) => name);
  assert.equal(new Set(tools.map(({ name }) => name)).size, tools.length);
  for (const tool of tools) {
    assert.match(tool.name, /^mcp__[a-zA-Z0-9_-]{1,59}$/);
    assert.ok(!ours.includes(tool.name));
    assert.match(tool.title({}), /^[\x20-\x7e]+$/);
    assert.match((await tool.dryRun({}, context())).output, /^[\x20-\x7eüö]+$/);
    assert.equal(tool.effect({}), 'execute');
  }
});

test('[MCP13] a server that floods, babbles or falls silent costs its own call and keeps nobody waiting', async () => {
  const ends: Record<string, string> = {
    progress: 'timeout',
    changed: 'timeout',
    'silent-tools/call': 'timeout',
    'die-tools/call': 'command_failed',
    'lie-tools/call': 'timeout',
  };
  for (const [mode, code] of Object.entries(ends)) {
    await using opened = await open([hostile(mode), stdio('good')], { times });
    const tools = await opened.set.tools();
    let shown = 0;
    const progress: ToolContext['progress'] = (text) => {
      shown++;
      assert.ok(Buffer.byteLength(String(text)) <= 1_000);
    };
    const calling = named(tools, 'go').run({}, context({ progress }));
    calling.catch(() => undefined);
    const good = tools.find(({ name }) => name === 'mcp__good__echo');
    for (let n = 0; n < 3; n++) assert.equal((await good?.run({ text: 'on' }, context()))?.output, 'on');
    await assert.rejects(calling, (error) => {
      assert.equal((error as { code?: string }).code, code, mode);
      assert.ok(!String(error).includes('canary'));
      return true;
    });
    assert.ok(shown <= 20, `${shown} times`);
  }
});

test('[MCP13] a message without end, and a server that never reads, end the connection', async () => {
  for (const mode of ['line', 'deaf']) {
    await using opened = await open([hostile(mode)], { times: { ...times, silenceMs: 20_000, callMs: 20_000 } });
    await assert.rejects(opened.call('go'), { code: 'command_failed' }, mode);
  }
});

test('[MCP13] what a hostile server answers is bounded, and noise is passed over', async () => {
  for (const mode of ['output', 'blocks', 'garbage', 'error-tools/call']) {
    await using opened = await open([hostile(mode)], { times: { ...times, silenceMs: 20_000, callMs: 20_000 } });
    const { ok, output } = await opened.call('go');
    assert.equal(ok, mode !== 'error-tools/call');
    assert.ok(Buffer.byteLength(output) < 17_000, mode);
    if (mode === 'garbage') assert.equal(output, 'done');
  }
});

test('[MCP13] wherever a server fails on the way, it is reported in time and nothing of it is left', async () => {
  const methods = ['initialize', 'tools/list'];
  const modes = [
    'die',
    ...['silent', 'die', 'lie', 'error'].flatMap((how) => methods.map((method) => `${how}-${method}`)),
  ];
  await using dir = await tempDir();
  const fail = async (mode: string) => {
    const log = join(dir.path, mode.replace('/', '-'));
    await using opened = await open([hostile(mode, log)], { times: { ...times, connectMs: 4_000 } });
    const [status] = opened.statuses;
    assert.equal(status?.ok, false, mode);
    assert.ok((status?.message?.length ?? 0) < 100 && !status?.message?.includes('canary'), mode);
    assert.equal(started(log).length, 3);
    assert.deepEqual(started(log).filter(alive), [], mode);
    assert.deepEqual(await opened.set.tools(), []);
  };
  await Promise.all(modes.map(fail));
});

test('[MCP13] over HTTP nothing follows a redirect to elsewhere, and no answer is endless', async () => {
  await using elsewhere = await serveHttp(
    () => new Response('{}', { headers: { 'content-type': 'application/json' } }),
  );
  const endless = (text: string) =>
    new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.from(text.repeat(1_000))) });
  const answers: Record<string, () => Response> = {
    redirect: () => new Response('', { status: 307, headers: { location: elsewhere.url } }),
    json: () => new Response(endless('[ \n\n'), { headers: { 'content-type': 'application/json' } }),
    events: () => new Response(endless('data: x\n'), { headers: { 'content-type': 'text/event-stream' } }),
    noise: () => new Response(endless(': \n\n'), { headers: { 'content-type': 'text/event-stream' } }),
    html: () => new Response('<html>canary</html>', { headers: { 'content-type': 'text/html' } }),
    nothing: () => new Response('', { status: 500 }),
  };
  for (const [name, handler] of Object.entries(answers)) {
    for (const type of ['http', 'sse'] as const) {
      await using server = await serveHttp(handler);
      const entry = http(name, server.url, { authorization: 'canary' }, type);
      await using opened = await open([entry], { times: { ...times, connectMs: 500 } });
      assert.equal(opened.statuses[0]?.ok, false, `${name} ${type}`);
      assert.ok(!opened.statuses[0]?.message?.includes('canary'));
    }
  }
  assert.deepEqual(elsewhere.requests, []);
});

test('[MCP13] in a Session, a hostile server changes nothing of ours', async () => {
  const script = [
    [call('c', 'mcp__evil__bash', { command: 'x' }), finish()],
    [...say('Done.'), finish()],
  ];
  await using w = await world({ script });
  const client = await w.client();
  const { type: _, ...server } = hostile('names');
  const { sessionId } = await client.request('session/new', { cwd: w.dir, mcpServers: [server] });
  await client.prompt(String(sessionId), 'go');
  const [request] = w.provider.requests;
  const plain = w.runtime.toolSpecs();
  assert.deepEqual(request?.tools.slice(0, plain.length), plain);
  const [result] = (await w.events(String(sessionId))).filter(({ type }) => type === 'tool_result');
  assert.ok(result?.type === 'tool_result' && result.data.output === 'done');
});
