import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { startFakeOpenAi } from '../support/fake-openai.ts';
import { call, message } from '../support/fake-openai-steps.ts';
import { packagedPixir } from '../support/package.ts';
import { startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { connectWebSocket } from '../support/ws-wire.ts';

const MIB = 1024 * 1024;
const PRINTED = process.env.PIXIR_NIGHTLY === '1' ? 1_000_000_000 : 200_000_000;

/** The most memory that a process has ever had, in bytes. */
async function peakMemory(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

export function endlessOutput(): void {
  test(`[TOOL20] [TOOL21] a tool that prints ${PRINTED / 1e6} MB (1 GB nightly) grows the server by less than 128 MiB`, async () => {
    await using dir = await tempDir();
    await using fake = await startFakeOpenAi();
    const env = { PIXIR_PROVIDER: 'openai', OPENAI_BASE_URL: fake.baseUrl, OPENAI_API_KEY: 'sk-test' };
    await using server = await startServer(dir.path, env, ['--workspace', dir.path], await packagedPixir());
    const { client } = await connectWebSocket(server);
    await client.initialize();
    const sessionId = await client.newSession(dir.path);
    const run = async (callId: string, command: string) => {
      fake.answer(call(callId, 'bash', { command }));
      fake.answer(message('Done.'));
      assert.deepEqual(await client.prompt(sessionId, 'go'), { stopReason: 'end_turn' });
    };
    // What every Turn needs is in memory before it is measured.
    await run('c1', 'echo x');
    const before = await peakMemory(server.child.pid);
    const started = performance.now();
    await run('c2', `yes | head -c ${PRINTED}`);
    const ms = performance.now() - started;
    const grown = (await peakMemory(server.child.pid)) - before;
    assert.ok(grown < 128 * MIB, `it grew by ${Math.round(grown / MIB)} MiB`);

    const shown = client.updates().filter(({ sessionUpdate }) => sessionUpdate === 'tool_call_update');
    const bytes = shown.map(({ content }) => Buffer.byteLength(JSON.stringify(content)));
    assert.ok(Math.max(...bytes) < 32_000, `an update of ${Math.max(...bytes)} bytes`);
    assert.ok(shown.length <= 4 + ms / 100, `${shown.length} updates in ${Math.round(ms)} ms`);
    assert.match(JSON.stringify(shown.at(-1)), /bytes omitted/);
    client.assertSound();
  });
}
