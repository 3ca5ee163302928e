/**
 * `npm run mutants [-- NAME]`: applies each mutant of test/mutants.ts to a copy of the source and shows that a test of
 * the rule it breaks fails. It must never touch the source itself.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MUTANTS, type Mutant } from '../test/mutants.ts';

const ROOT = join(import.meta.dirname, '..');
const COPIED = ['src', 'test', 'bin', 'migrations', 'scripts', 'docs', 'web/index.html', 'package.json', 'SPEC.md'];
const TEST_TIMEOUT_MS = 20_000;

async function copyOfTheSource(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'pixir-mutant-'));
  for (const part of COPIED) await cp(join(ROOT, part), join(copy, part), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** The names of the tests that fail with it. */
async function failuresWith({ file, find, replace, tests, rule }: Mutant, copy: string): Promise<string[]> {
  const path = join(copy, file);
  const source = await readFile(path, 'utf8');
  if (source.split(find).length !== 2) throw new Error(`${file}: "${find}" must occur once`);
  await writeFile(
    path,
    source.replace(find, () => replace),
  );
  const options = ['--test', '--test-isolation=none', '--test-reporter=tap', `--test-timeout=${TEST_TIMEOUT_MS}`];
  const only = `--test-name-pattern=\\[${rule}\\]`;
  const run = promisify(execFile)(process.execPath, [...options, only, tests], {
    cwd: copy,
    timeout: 4 * TEST_TIMEOUT_MS,
  });
  const output = await run.then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  );
  await writeFile(path, source);
  return [...output.matchAll(/^\s*not ok \d+ - (.*)$/gm)].map(([, name = '']) => name);
}

const wanted = process.argv.slice(2).join(' ');
const queue = MUTANTS.filter(({ name, file, rule }) => `${name} ${file} ${rule}`.includes(wanted));
const survivors: string[] = [];
let killed = 0;

async function work(): Promise<void> {
  const copy = await copyOfTheSource();
  for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
    const failed = (await failuresWith(mutant, copy)).filter((name) => name.includes(`[${mutant?.rule}]`));
    if (failed.length === 0) survivors.push(mutant.name);
    else killed++;
    console.log(`${failed.length === 0 ? 'SURVIVED' : 'killed  '}  ${mutant.rule.padEnd(8)} ${mutant.name}`);
  }
  await rm(copy, { recursive: true, force: true });
}

await Promise.all(Array.from({ length: availableParallelism() }, work));
console.log(`${killed} killed, ${survivors.length} survived`);
if (survivors.length > 0 || killed === 0) process.exitCode = 1;
