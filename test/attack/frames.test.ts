/** Frames that are no frames: whatever is sent, each request is answered once and the next one works. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../src/cli/logger.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { checkFrame, type Frame } from '../support/schema.ts';
import { seeded } from '../support/seeded.ts';
import { type World, world } from '../support/world.ts';
import { openWorkspace } from '../tools/support.ts';
import { owed, recordedFrames, spoil } from './frames-support.ts';

const NIGHTLY = process.env.PIXIR_NIGHTLY === '1';
const FRAMES = NIGHTLY ? 100_000 : 10_000;
const PER_WORLD = 500;
const INSIDES = /\bat \S+ \(|node:internal|\.[tj]s:\d|file:\/\/|node_modules/;

/** A connection without a client: text in, and the answers that came until nothing was owed any more. */
async function connect(w: World) {
  const answers: Frame[] = [];
  const receiver = w.openPeer(
    {
      send(text) {
        assert.ok(!INSIDES.test(text), text);
        const frame = checkFrame(text, () => undefined);
        if (frame.method === undefined) answers.push(frame);
      },
      close: () => assert.fail('the connection was given up'),
      bufferedAmount: 0,
      onDrain() {},
    },
    LOCAL,
  );
  const send = async (...texts: string[]) => {
    for (const text of texts) receiver.receive(text);
    await receiver.idle();
    return answers.splice(0);
  };
  const request = async (method: string, params: unknown = {}, id: unknown = 'healthy') => {
    const [answer, ...more] = await send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    assert.deepEqual([answer?.id, more], [id, []]);
    return answer?.result;
  };
  assert.ok(await request('initialize', { protocolVersion: 1, clientCapabilities: {} }));
  const healthy = async () => assert.deepEqual(await request('logout'), {});
  return { send, request, healthy, end: () => receiver.closed() };
}

function assertUnpolluted(): void {
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  assert.deepEqual(Object.keys(Object.prototype), []);
}

test(`[ATK5] ${FRAMES} spoilt frames: each request is answered once, by a known code, and the next one works`, async () => {
  const random = seeded('spoilt frames');
  let answered = 0;
  for (let done = 0; done < FRAMES; done += PER_WORLD) {
    await using w = await world();
    const peer = await connect(w);
    const created = await peer.request('session/new', { cwd: w.dir, mcpServers: [] });
    const recorded = recordedFrames(String(created?.sessionId), w.dir);
    for (let n = 0; n < PER_WORLD; n++) {
      const text = spoil(recorded[n % recorded.length] ?? '', random);
      const answers = (await peer.send(text)).map(({ id }) => JSON.stringify(id));
      const expected = owed(text);
      assert.deepEqual(answers, expected === undefined ? [] : [expected], text);
      answered += answers.length;
    }
    assertUnpolluted();
    await peer.healthy();
    peer.end();
  }
  assert.ok(answered > FRAMES / 2);
});

test('[ATK5] what nests without end is refused before it is read, in brackets, braces and params', async () => {
  await using w = await world();
  const peer = await connect(w);
  const nested = (depth: number) => '{"a":'.repeat(depth) + '1'.concat('}'.repeat(depth));
  const inParams = (value: string) => `{"jsonrpc":"2.0","id":1,"method":"logout","params":{"_meta":${value}}}`;
  const deep = [
    '['.repeat(1_000_000),
    '{"a":'.repeat(1_000_000),
    '['.repeat(1_000_000) + ']'.repeat(1_000_000),
    ...[100, 5_000, 100_000].map((depth) => inParams(nested(depth))),
    inParams(`${'['.repeat(5_000)}${']'.repeat(5_000)}`),
    inParams(`"\\\\",${nested(200)}`),
  ];
  for (const text of deep) {
    const started = performance.now();
    const [answer, ...more] = await peer.send(text);
    assert.deepEqual([answer?.id, answer?.error?.code, more], [null, -32600, []], text.slice(0, 80));
    assert.ok(performance.now() - started < 1_000);
    await peer.healthy();
  }
  const flat = inParams(JSON.stringify(`\\"${'[{'.repeat(100_000)}`));
  for (const text of [inParams(nested(60)), flat]) assert.deepEqual((await peer.send(text))[0]?.result, {});
  peer.end();
});

test('[ATK5] an id that would not come back as it was is refused', async () => {
  await using w = await world();
  const peer = await connect(w);
  const withId = (id: string) => peer.send(`{"jsonrpc":"2.0","id":${id},"method":"logout"}`);
  const lossy = ['9007199254740992', '9007199254740993', '-9007199254740993', '18446744073709551615', '1e300', '1e400'];
  for (const id of [...lossy, `"${'x'.repeat(257)}"`, `"${'x'.repeat(1_000_000)}"`]) {
    const answers = await withId(id);
    assert.deepEqual([answers.length, answers[0]?.id, answers[0]?.error?.code], [1, null, -32600], id.slice(0, 40));
  }
  for (const id of ['9007199254740991', '-9007199254740991', `"${'x'.repeat(256)}"`]) {
    assert.equal(JSON.stringify((await withId(id))[0]?.id), id);
  }
  peer.end();
});

test('[ATK5] repeated and inherited names change nothing but the message that holds them', async () => {
  await using w = await world();
  const peer = await connect(w);
  const messages = [
    '{"jsonrpc":"2.0","id":1,"id":2,"method":"nope","method":"logout"}',
    '{"jsonrpc":"2.0","id":1,"method":"logout","__proto__":{"polluted":1}}',
    '{"jsonrpc":"2.0","id":1,"method":"logout","params":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}',
    '{"jsonrpc":"2.0","id":1,"method":"__proto__"}',
    '{"jsonrpc":"2.0","id":1,"method":"constructor","params":{"sessionId":"__proto__"}}',
    '{"__proto__":{"jsonrpc":"2.0","id":1,"method":"logout"}}',
    '{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"__proto__","cwd":"/","mcpServers":[]}}',
    '{"jsonrpc":"2.0","id":1,"method":"session/set_mode","params":{"sessionId":"constructor","modeId":"__proto__"}}',
  ];
  for (const text of messages) {
    assert.equal((await peer.send(text)).length, 1, text);
    assertUnpolluted();
    await peer.healthy();
  }
  peer.end();
});

test('[ATK7] no pattern and no patch that a model can think of holds up everybody else', async () => {
  await using workspace = await openWorkspace({
    'a.txt': `${'a'.repeat(50_000)}!`,
    [`${'a'.repeat(200)}.b`]: '',
    'lines.txt': 'a\n'.repeat(40_000),
  });
  const evil = ['(a+)+$', '(a|a)*b', '(a|aa)+$', '(.*a){12}b', '([a-zA-Z]+)*$', '^(([a-z])+.)+[A-Z]([a-z])+$'];
  const patch = `*** Begin Patch\n*** Update File: lines.txt\n${' a\n'.repeat(20_000)}-b\n*** End Patch`;
  const calls: [string, Record<string, string>][] = [
    ...evil.map((pattern): [string, Record<string, string>] => ['grep', { pattern }]),
    ['glob', { pattern: `${'*a'.repeat(40)}*c` }],
    ['glob', { pattern: `${'**/'.repeat(100)}*c` }],
    ['apply_patch', { patch }],
    ['edit', { path: 'lines.txt', old_string: `${'a\n'.repeat(20_000)}b`, new_string: '' }],
  ];
  for (const [tool, args] of calls) {
    const started = performance.now();
    await workspace.run(tool, args).catch(() => undefined);
    assert.ok(performance.now() - started < 2_500, `${tool} ${JSON.stringify(args).slice(0, 80)}`);
  }
});

test('[ATK5] a hostile name forges no line of the log', () => {
  const written: string[] = [];
  const logger = createLogger('info', { write: (text: string) => written.push(text), writableLength: 0 });
  const forged = 'x\n{"level":60,"msg":"forged"}\r\n\u001b[2K\u2028{"level":60}';
  logger.warn({ name: forged, [forged]: forged }, forged);
  assert.equal(written.length, 1);
  const [line = ''] = written;
  assert.deepEqual([line.split('\n').length, line.endsWith('\n')], [2, true]);
  const { level, msg, name } = JSON.parse(line) as Record<string, unknown>;
  assert.deepEqual([level, msg, name], [40, forged, forged]);
});
