/** Our own agent, held against every requirement, over stdio and over WebSocket, as real processes. */
import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { NOT_OBSERVABLE } from '../../conformance/not-observable.ts';
import { readPrompts } from '../../conformance/prompts.ts';
import { REQUIREMENTS } from '../../conformance/requirements/index.ts';
import { type Result, run } from '../../conformance/run.ts';
import type { Target } from '../../conformance/transport.ts';
import { environmentFor, REPOSITORY, startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';

const SETTINGS = { PIXIR_PROVIDER: 'scripted', PIXIR_PERMISSION_MODE: 'ask', PIXIR_SANDBOX: 'off' };

/** What cannot be judged of us, and why that is right. Whatever else is skipped has not been tested. */
const EXPECTED_SKIPS: Readonly<Record<string, string>> = {
  C028: 'everything that it asks about is offered',
  C033b: 'MCP over HTTP and SSE is offered',
  'PROMPTCAP-002': 'audio is not offered',
  'AUTH-001': 'a login is offered to clients with a terminal only',
  'AUTH-003': 'a login is offered to clients with a terminal only',
  C071: 'the demonstration counts no tokens',
  C040: 'a login is offered to clients with a terminal only',
};

async function conform(target: Target, cwd: string): Promise<Result[]> {
  const prompts = readPrompts(await readFile(join(REPOSITORY, 'conformance/prompts/pixir-scripted.json'), 'utf8'));
  const { results } = await run({ target, cwd, prompts, timeout: 20_000, mayLogout: true });
  return results;
}

for (const [transport, prepare] of [
  ['stdio', overStdio],
  ['websocket', overWebSocket],
] as const) {
  test(`[CFR7] our agent meets every requirement that can be judged (${transport})`, async (t) => {
    await using dir = await tempDir();
    const cwd = join(dir.path, 'work');
    await mkdir(cwd);
    await using prepared = await prepare(join(dir.path, 'data'), cwd);
    const skipped: string[] = [];
    for (const { id, title, status, reason } of await conform(prepared.target, cwd)) {
      const { cases = [], over } = REQUIREMENTS.find((one) => one.id === id) ?? {};
      if (over !== undefined && over !== transport) continue;
      await t.test(`${[id, ...cases].join(' ')}: ${title} (${transport})`, () => {
        if (status === 'skip') skipped.push(id);
        if (status === 'skip') assert.ok(id in EXPECTED_SKIPS, `not judged: ${reason}`);
        else assert.equal(status, 'pass', String(reason));
      });
    }
    assert.deepEqual(skipped.sort(), Object.keys(EXPECTED_SKIPS).sort(), 'an excuse that is not needed hides nothing');
  });
}

async function overStdio(dataDir: string) {
  const variables = Object.entries(environmentFor(dataDir, SETTINGS)).map(([name, value]) => `${name}=${value}`);
  const args = ['-i', ...variables, process.execPath, join(REPOSITORY, 'bin/pixir'), 'acp'];
  return { target: { kind: 'stdio', command: 'env', args } satisfies Target, async [Symbol.asyncDispose]() {} };
}

async function overWebSocket(dataDir: string, cwd: string) {
  const server = await startServer(dataDir, { ...SETTINGS, PIXIR_WORKSPACES: cwd });
  const url = `${server.url.replace('http', 'ws')}/acp`;
  const headers = { authorization: `Bearer ${server.token}` };
  const target = { kind: 'websocket', url, headers } satisfies Target;
  return { target, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test('[CFR8] each of the 110 cases is asked by the runner, or has a test of its own', async () => {
  const asked = new Set(REQUIREMENTS.flatMap(({ id, cases = [] }) => [id.replace(/[a-z]$/, ''), ...cases]));
  const own = Object.keys(NOT_OBSERVABLE);
  const all = Array.from({ length: 110 }, (_, n) => `C${String(n + 1).padStart(3, '0')}`);
  assert.deepEqual(
    all.filter((id) => !asked.has(id) && !own.includes(id)),
    [],
  );
  const spec = await readFile(join(REPOSITORY, 'SPEC.md'), 'utf8');
  for (const id of own) assert.match(spec, new RegExp(`^\\| ${id} \\| .*\\b[A-Z]+\\d+\\b.*\\|$`, 'm'), id);
});
