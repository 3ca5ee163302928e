import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { words } from '../../conformance/arguments.ts';
import { NOT_OBSERVABLE } from '../../conformance/not-observable.ts';
import { REQUIREMENTS } from '../../conformance/requirements/index.ts';
import { connect } from '../../conformance/transport.ts';
import { REPOSITORY } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { agent, CACHE } from './targets.ts';

/** The ids of the official kit, with how many of each group there are. */
const KIT = {
  MUST: {
    TRANSPORT: [1, 2],
    JSONRPC: [1, 2, 3],
    INIT: [1, 2, 3],
    SCHEMA: [1],
    SESSION: [1, 2],
    PROMPT: [1, 2],
    CANCEL: [1, 2],
    CONFIG: [1, 2, 3],
    AUTH: [2, 3, 4],
    CLIENTCAP: [1, 2, 3],
    EXT: [1],
    LOAD: [1, 2],
    RESUME: [1, 2],
    LIST: [1, 2],
    DELETE: [1],
    CLOSE: [1, 2],
    ADDDIRS: [1],
    MODES: [1, 2],
    PROMPTCAP: [1, 2, 3],
  },
  SHOULD: {
    JSONRPC: [4, 5],
    INIT: [4],
    PROMPT: [3],
    LOAD: [3],
    DELETE: [2],
    META: [1],
    ERROR: [1],
    SHUTDOWN: [1],
    SCHEMA: [2],
    AUTH: [1, 5],
  },
  MAY: { STDERR: [1], 'INFO-PARSE': [1], 'INFO-INVALIDREQ': [1], 'INFO-UNKNOWNSESSION': [1] },
};

const quoted = (args: readonly string[]) => args.map((arg) => `'${arg}'`).join(' ');
const commandOf = ({ command, args }: ReturnType<typeof agent>) => quoted([command, ...args]);

function conformance(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const main = join(REPOSITORY, 'conformance', 'main.ts');
  return new Promise((resolve) => {
    execFile('env', [CACHE, process.execPath, main, ...args], (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

test('[CFR4] every requirement of the official kit is there, with its level', () => {
  const levels = new Map(REQUIREMENTS.map(({ id, level }) => [id, level]));
  for (const [level, groups] of Object.entries(KIT)) {
    for (const [group, numbers] of Object.entries(groups)) {
      for (const number of numbers) assert.equal(levels.get(`${group}-00${number}`), level, `${group}-00${number}`);
    }
  }
});

test('[CFR4] each of the 110 cases is a requirement or has a reason why it cannot be one', () => {
  const covered = new Set(REQUIREMENTS.flatMap(({ id, cases = [] }) => [id.slice(0, 4), ...cases]));
  for (let n = 1; n <= 110; n++) {
    const id = `C${String(n).padStart(3, '0')}`;
    assert.ok(covered.has(id) !== id in NOT_OBSERVABLE, id);
  }
});

test('[CFR4] ids are unique, and what a requirement rests on comes before it', () => {
  const order = [...REQUIREMENTS.filter((one) => 'run' in one), ...REQUIREMENTS.filter((one) => 'observe' in one)];
  const seen = new Set<string>();
  for (const { id, restsOn = [] } of order) {
    assert.ok(!seen.has(id), id);
    for (const foundation of restsOn) assert.ok(seen.has(foundation), `${id} rests on ${foundation}`);
    seen.add(id);
  }
});

describe('the command', { concurrency: 3 }, () => {
  test('[CFR5] it exits with 0 for a sound agent, and writes the report', async () => {
    await using dir = await tempDir();
    const file = join(dir.path, 'report.json');
    const prompts = join(dir.path, 'prompts.json');
    await writeFile(prompts, '{ "text": "hello" }');
    const sound = commandOf(agent('broken.ts'));
    const ran = await conformance('--agent', sound, '--only', 'INIT-00', '--json', file, '--prompts', prompts);
    assert.equal(ran.code, 0, ran.stdout + ran.stderr);
    assert.match(ran.stdout, /^pass {2}MUST {4}INIT-001 .*\n(.*\n)*CONFORMANT: 4 passed, 0 failed/);
    const { results, notObservable, ...report } = JSON.parse(await readFile(file, 'utf8'));
    assert.deepEqual(
      { ...report, agent: typeof report.agent },
      {
        version: 1,
        agent: 'string',
        transport: 'stdio',
        agentInfo: { name: 'broken', version: '1.0.0' },
        conformant: true,
      },
    );
    const [{ title, ...first }] = results;
    assert.deepEqual(first, { id: 'INIT-001', level: 'MUST', status: 'pass' });
    assert.ok('C109' in notObservable && title);
  });

  test('[CFR5] it exits with 1 when a MUST fails, and says which and why', async () => {
    const ran = await conformance('--agent', commandOf(agent('broken.ts', 'echoes-the-version')), '--only', 'INIT-003');
    assert.equal(ran.code, 1, ran.stderr);
    assert.match(ran.stdout, /^fail {2}MUST {4}INIT-003 .*\n +asked for version 65535 it speaks 65535$/m);
    assert.match(ran.stdout, /^NOT CONFORMANT: 1 passed, 1 failed \(1 MUST, 0 SHOULD, 0 MAY\)/m);
  });

  for (const [what, args] of Object.entries({
    'no agent': [],
    'an agent that cannot be started': ['--agent', '/nonexistent/agent'],
    'an agent that does not listen': ['--url', 'ws://127.0.0.1:1/'],
    'an unknown option': ['--frobnicate'],
    'a filter that leaves nothing': ['--agent', 'true', '--only', 'no such requirement'],
  })) {
    test(`[CFR5] it exits with 2 for ${what}`, async () => {
      const { code, stderr, stdout } = await conformance(...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /^[^\n]+\n\nusage: /);
      assert.equal(stdout, '');
    });
  }

  test('[CFR5] it lists what it asks and what it cannot ask', async () => {
    const { code, stdout } = await conformance('--list');
    assert.equal(code, 0);
    for (const { id } of REQUIREMENTS) assert.ok(stdout.includes(` ${id} `), id);
    assert.match(stdout, /^C109 {2}/m);
  });

  test('[CFR5] a command is split like a shell does', () => {
    assert.deepEqual(words(`node 'a b.ts' --x="c d" e`), ['node', 'a b.ts', '--x=c d', 'e']);
    assert.deepEqual(words(`a '' "it's"`), ['a', '', "it's"]);
  });
});

test('[CFR6] nothing that an agent started outlives it', async () => {
  const { promise: said, resolve } = Promise.withResolvers<string>();
  const script = 'sleep 1000 & echo $!; wait';
  const transport = await connect({ kind: 'stdio', command: 'sh', args: ['-c', script] }, (line) => resolve(`${line}`));
  const pid = Number(await said);
  transport.kill();
  await transport.closed;
  while (await isRunning(pid)) await new Promise(setImmediate);
});

async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '0 (gone) Z');
  return !/\) [ZX]/.test(stat);
}
