/** Commands in the client's terminal: made, shown, waited for, read and let go of, however they end. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTools } from '../../src/tools/index.ts';
import type { Sandbox } from '../../src/tools/sandbox.ts';
import type { WorldOptions } from '../support/world.ts';
import { REFUSED, SILENCE, type Sitting, sitting } from './services-support.ts';

const [CREATE, OUTPUT, WAIT, KILL, RELEASE] = [
  'terminal/create',
  'terminal/output',
  'terminal/wait_for_exit',
  'terminal/kill',
  'terminal/release',
] as const;
const CANCEL = '$/cancel_request';
const GONE = 'outcome_unknown';

/** A terminal in which a command ends as the test says; it leaves a file behind if it ran here instead. */
async function running(
  exit: unknown,
  args: Record<string, unknown> = {},
  options: WorldOptions = {},
): Promise<Sitting> {
  const s = await sitting({ terminal: true }, [['bash', { command: 'echo here; touch ran', ...args }]], options);
  Object.assign(s.answers, {
    [CREATE]: () => ({ terminalId: 'term' }),
    [WAIT]: () => exit,
    [OUTPUT]: () => ({ output: '\u001b[32mthere\u001b[0m\r\n', truncated: false }),
    [KILL]: () => ({}),
    [RELEASE]: () => ({}),
  });
  return s;
}

const ranHere = ({ w }: Sitting) => existsSync(join(w.dir, 'ran'));
const released = ({ params, sessionId }: Sitting) =>
  assert.deepEqual(params(RELEASE), [{ sessionId, terminalId: 'term' }]);

test('[CLS5] a command runs in the client’s terminal, is shown there, and its output is kept as text', async () => {
  for (const [exit, output] of [
    [{ exitCode: 0 }, 'there\n'],
    [{ exitCode: 0, signal: null, _meta: null }, 'there\n'],
    [{ exitCode: 3 }, 'there\n[exit code 3]'],
    [{ exitCode: null, signal: 'SIGKILL' }, 'there\n[killed by signal SIGKILL]'],
    [{}, 'there\n[exit code unknown]'],
  ] as const) {
    await using s = await running(exit);
    await s.go();
    assert.deepEqual(s.asked, [CREATE, 'embedded', WAIT, OUTPUT, RELEASE]);
    const [created] = s.params(CREATE);
    const args = ['-c', 'echo here; touch ran'];
    const cwd = s.w.dir;
    assert.deepEqual(created, { sessionId: s.sessionId, command: 'bash', args, cwd, outputByteLimit: 16_000 });
    const result = await s.result();
    assert.deepEqual([result.ok, result.output], [output === 'there\n', output]);
    released(s);
    assert.ok(!ranHere(s));
    const again = await s.w.client();
    await again.request('session/load', { sessionId: s.sessionId, cwd, mcpServers: [] });
    const shown = JSON.stringify(again.updates());
    assert.ok(shown.includes('there') && !shown.includes('"terminal"'));
  }
});

test('[CLS5] a terminal is shown to its own client only', async () => {
  await using s = await running(SILENCE);
  const other = await s.w.client();
  await other.request('session/resume', { sessionId: s.sessionId, cwd: s.w.dir });
  const prompt = s.go();
  const waiting = await s.request(WAIT);
  s.answer(waiting, { exitCode: 0 });
  await prompt;
  await other.update(({ status }) => status === 'completed');
  assert.ok(!JSON.stringify(other.frames).includes('"terminal"'));
});

test('[CLS5] where the client refuses the terminal the command runs here, once', async () => {
  await using s = await running(SILENCE);
  s.answers[CREATE] = () => REFUSED;
  await s.go();
  assert.deepEqual([s.asked, ranHere(s), (await s.result()).output], [[CREATE], true, 'here\n']);
});

test('[CLS5] its output is bounded whatever the client sends, and says what is missing', async () => {
  await using s = await running({ exitCode: 0 });
  s.answers[OUTPUT] = () => ({ output: 'x'.repeat(1_000_000), truncated: true });
  await s.go();
  const { output } = await s.result();
  assert.ok(Buffer.byteLength(output) < 17_000 && output.startsWith('…[earlier output omitted]…\nx'));
});

for (const [what, answer] of [
  ['refuses', REFUSED],
  ['garbles', { output: 7 }],
] as const) {
  test(`[CLS5] a client that ${what} the output still says how the command ended`, async () => {
    await using s = await running({ exitCode: 3 });
    s.answers[OUTPUT] = () => answer;
    await s.go();
    assert.match((await s.result()).output, /did not hand over the output\]\n\[exit code 3\]$/);
    released(s);
  });
}

test('[CLS6] at its time limit it is killed, read and released', async () => {
  await using s = await running(SILENCE, { timeout_ms: 20 });
  await s.go();
  assert.deepEqual(s.asked, [CREATE, 'embedded', WAIT, CANCEL, KILL, OUTPUT, RELEASE]);
  const { error } = await s.result();
  assert.deepEqual(error, {
    kind: 'timeout',
    message: 'the command was stopped after 20 ms',
    details: { timeout_ms: 20, partial_output: 'there\n' },
  });
});

test('[CLS6] cancelled it is killed and released, also by a client that does not answer', async () => {
  for (const kill of [{}, REFUSED, SILENCE]) {
    await using s = await running(SILENCE);
    s.answers[KILL] = () => kill;
    const prompt = s.go();
    await s.request(WAIT);
    s.client.notify('session/cancel', { sessionId: s.sessionId });
    await s.request(KILL);
    if (kill === SILENCE) s.w.clock.advance(5_000);
    assert.deepEqual(await prompt, { stopReason: 'cancelled' });
    assert.deepEqual(
      s.asked.filter((method) => method !== CANCEL),
      [CREATE, 'embedded', WAIT, KILL, RELEASE],
    );
    assert.ok(!ranHere(s));
  }
});

test('[CLS6] a terminal that is made after all, when nobody waits for it any more, is released', async () => {
  for (const by of ['cancel', 'time']) {
    await using s = await running(SILENCE);
    s.answers[CREATE] = () => SILENCE;
    const prompt = s.go();
    const creation = await s.request(CREATE);
    if (by === 'cancel') s.client.notify('session/cancel', { sessionId: s.sessionId });
    else s.w.clock.advance(30_000);
    await prompt;
    s.answer(creation, { terminalId: 'term' });
    await s.client.request('logout', {});
    assert.deepEqual(s.asked, [CREATE, CANCEL, RELEASE]);
    if (by === 'time') assert.equal((await s.result()).error?.kind, GONE);
    assert.ok(!ranHere(s));
  }
});

test('[CLS6] what a client that goes away, refuses or garbles the wait may have run is not run again', async () => {
  for (const [moment, answer] of [
    [CREATE, { terminalId: '' }],
    [CREATE, { terminalId: 7 }],
    [CREATE, 'leaves'],
    [WAIT, REFUSED],
    [WAIT, { exitCode: 'none' }],
    [WAIT, 'leaves'],
  ] as const) {
    await using s = await running(SILENCE);
    s.answers[moment] = () => (answer === 'leaves' ? SILENCE : answer);
    const prompt = s.go().catch(() => undefined);
    await s.request(moment);
    if (answer === 'leaves') s.client.close();
    const other = await s.w.client();
    await other.request('session/load', { sessionId: s.sessionId, cwd: s.w.dir, mcpServers: [] });
    await other.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
    await prompt;
    assert.deepEqual([(await s.result()).error?.kind, ranHere(s)], [GONE, false], `${moment} ${String(answer)}`);
    if (moment === WAIT && answer !== 'leaves') released(s);
  }
});

test('[CLS7] a command that is confined here never leaves for the client’s terminal', async () => {
  const confined: Sandbox = {
    status: async () => ({ kind: 'bubblewrap', file: '/usr/bin/bwrap' }),
    confine: async (program) => ({ ...program, confined: false, [Symbol.dispose]() {} }),
  };
  const tools = createTools({ env: { PATH: process.env.PATH }, sandbox: confined });
  await using s = await running({ exitCode: 0 }, {}, { tools });
  await s.go();
  assert.deepEqual([s.asked, ranHere(s)], [[], true]);
});
