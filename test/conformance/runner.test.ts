import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isConformant } from '../../conformance/report.ts';
import type { Requirement } from '../../conformance/requirement.ts';
import { run } from '../../conformance/run.ts';
import { agent, prompts, runAgent, runHosted } from './targets.ts';

/** Every defect, and exactly the requirements that have to fail for it. */
const DEFECTS: Record<string, string[]> = {
  none: [],
  'wrong-version': ['TRANSPORT-001'],
  'answers-batches': ['C006', 'TRANSPORT-001'],
  'answers-notifications': ['JSONRPC-003'],
  'ids-as-text': ['C003', 'JSONRPC-001'],
  'result-and-error': ['JSONRPC-002'],
  'unknown-is-internal': ['JSONRPC-004'],
  'long-errors': ['ERROR-001'],
  'works-uninitialized': ['C023'],
  'version-as-text': ['INIT-001', 'SCHEMA-001'],
  'echoes-the-version': ['INIT-003'],
  'terminal-login': ['AUTH-002'],
  'one-session-id': ['SESSION-002'],
  'any-session': ['C044'],
  'root-members': ['SCHEMA-002'],
  'null-result': ['SCHEMA-001'],
  'unknown-mode': ['MODES-001'],
  'option-not-applied': ['C069b', 'CONFIG-002'],
  'part-of-the-options': ['C066'],
  'boolean-option': ['CONFIG-003'],
  'misspelt-stop-reason': ['PROMPT-001', 'SCHEMA-001'],
  'bad-update': ['PROMPT-002', 'SCHEMA-001'],
  'foreign-update': ['C036', 'PROMPT-002'],
  'refuses-links': ['PROMPT-003'],
  'update-after-the-end': ['C059'],
  'cancel-ends-the-turn': ['CANCEL-001'],
  'update-after-the-cancel': ['CANCEL-002'],
  'ignores-permissions': ['C083', 'C084'],
  'unreported-tool-call': ['C064'],
  'relative-paths': ['C065'],
  'replays-late': ['LOAD-002'],
  'resume-replays': ['RESUME-002'],
  'lists-all': ['LIST-002'],
  'lists-twice': ['C052'],
  'deletes-nothing': ['DELETE-001'],
  'close-ends-the-turn': ['CLOSE-002'],
  'asks-for-files': ['CLIENTCAP-001'],
  'keeps-terminals': ['C090'],
};

/** Defects that show in what does not come: the runner has to wait for it in vain. */
const SILENT: Record<string, string[]> = {
  'no-custom-answers': ['EXT-001'],
  'ignores-cancels': ['CANCEL-001'],
};

/** Defects of a process. It is asked for what the official kit requires: the rest takes one start after the other. */
const PROCESSES: Record<string, string[]> = {
  prints: ['TRANSPORT-001'],
  dies: ['PROMPT-001'],
  'not-utf8': ['TRANSPORT-002'],
  'does-not-exit': ['SHUTDOWN-001'],
};

describe('the runner', { concurrency: 4 }, () => {
  test('[CFR1] the smallest agent on the official SDK is conformant', async () => {
    const wanted = ({ level }: Requirement) => level === 'MUST';
    const { results, agentInfo } = await run({ target: agent('echo.ts'), prompts, timeout: 10_000, wanted });
    assert.deepEqual(
      results.filter(({ status }) => status === 'fail'),
      [],
    );
    assert.ok(isConformant(results));
    assert.equal(agentInfo?.name, 'echo');
    const reason = (id: string) => results.find((result) => result.id === id)?.reason;
    assert.equal(reason('LOAD-001'), 'it does not offer load');
    assert.match(reason('C083') ?? '', /^it did not ask for a permission/);
  });

  test('[CFR2] found out over stdio: what the SDK makes of a line of 40 MiB, an end in silence', async () => {
    const wanted = ({ id }: Requirement) => id === 'C015';
    assert.deepEqual((await runAgent({ target: agent('echo.ts'), wanted })).failed, ['C015']);
    assert.deepEqual((await runHosted('none', { wanted })).failed, []);
  });

  for (const [defect, expected] of Object.entries(PROCESSES)) {
    test(`[CFR2] found out over stdio: ${defect}`, async () => {
      const timeout = defect === 'does-not-exit' ? 2_000 : 10_000;
      const wanted = ({ id }: Requirement) => id.includes('-');
      assert.deepEqual((await runAgent({ target: agent('broken.ts', defect), timeout, wanted })).failed, expected);
    });
  }

  for (const [defect, expected] of Object.entries(DEFECTS)) {
    test(`[CFR2] found out over WebSocket: ${defect}`, async () => {
      assert.deepEqual((await runHosted(defect)).failed, expected);
    });
  }

  for (const [defect, expected] of Object.entries(SILENT)) {
    test(`[CFR2] found out by its silence: ${defect}`, async () => {
      assert.deepEqual((await runHosted(defect, { timeout: 1_000 })).failed, expected);
    });
  }

  test('[CFR3] what the agent does not do is not judged, and never passes', async () => {
    const words = Object.keys(prompts).map((name) => [name, 'hello']);
    const { passed, failed, skipped } = await runHosted('none', { prompts: Object.fromEntries(words) });
    assert.deepEqual(failed, []);
    const unseen = ['CANCEL-001', 'CANCEL-002', 'C078', 'C083', 'C057', 'C082', 'C064', 'C065', 'C089', 'C090', 'C091'];
    for (const id of [...unseen, 'CLOSE-002']) assert.ok(skipped.includes(id), id);
    assert.ok(passed.includes('PROMPT-001'));
  });

  test('[CFR3] a requirement that rests on a broken one is not judged', async () => {
    const { passed, skipped } = await runHosted('version-as-text');
    assert.deepEqual(
      passed.filter((id) => /^(SESSION|PROMPT|LOAD|CANCEL)/.test(id)),
      [],
    );
    assert.ok(skipped.includes('SESSION-001'));
  });
});
