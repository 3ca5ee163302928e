/** The gate itself is tested: each law gets a violation planted, and the linter must find exactly that. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { REPOSITORY } from './support/processes.ts';
import { tempDir } from './support/temp-dir.ts';

const lines = (count: number, line: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');

/** File, what is wrong with it, and the rule that has to say so. */
const PLANTED: [string, string, string][] = [
  [
    'src/core/io.ts',
    "import { readFileSync } from 'node:fs';\nexport const x = readFileSync;\n",
    'noRestrictedImports',
  ],
  ['src/core/up.ts', "import type { Frame } from '../acp/frame.ts';\nexport type X = Frame;\n", 'noRestrictedImports'],
  ['src/core/lazy.ts', "export const x = () => import('node:net');\n", 'noRestrictedImports'],
  ['src/core/lib.ts', "import { WebSocket } from 'ws';\nexport const x = WebSocket;\n", 'noRestrictedImports'],
  ['src/acp/down.ts', "import { a } from '../server/app.ts';\nexport const x = a;\n", 'noRestrictedImports'],
  ['src/acp/methods/io.ts', "import { a } from '../../store/log.ts';\nexport const x = a;\n", 'noRestrictedImports'],
  ['src/acp/node.ts', "import { a } from 'node:path';\nexport const x = a;\n", 'noRestrictedImports'],
  ['src/tools/up.ts', "import { a } from '../acp/peer.ts';\nexport const x = a;\n", 'noRestrictedImports'],
  ['src/providers/side.ts', "import { a } from '../store/log.ts';\nexport const x = a;\n", 'noRestrictedImports'],
  ['src/store/side.ts', "import { a } from '../tools/index.ts';\nexport const x = a;\n", 'noRestrictedImports'],
  ['src/server/up.ts', "import { a } from '../cli/config.ts';\nexport const x = a;\n", 'noRestrictedImports'],
  ['src/client/core.ts', "import { a } from '../core/event.ts';\nexport const x = a;\n", 'noRestrictedImports'],
  [
    'conformance/own.ts',
    "import { newId } from '../src/core/event.ts';\nexport const x = newId;\n",
    'noRestrictedImports',
  ],
  ['src/core/a.ts', "import { b } from './b.ts';\nexport const a = () => b;\n", 'noImportCycles'],
  ['src/core/b.ts', "import { a } from './a.ts';\nexport const b = () => a;\n", 'noImportCycles'],
  ['src/core/env.ts', 'export const x = process.env.HOME;\n', 'noProcessEnv'],
  ['src/core/long.ts', `${lines(301, (n) => `export const x${n} = ${n};`)}\n`, 'noExcessiveLinesPerFile'],
  [
    'src/core/big.ts',
    `export function f(): number {\n  let x = 0;\n${lines(60, (n) => `  x += ${n};`)}\n  return x;\n}\n`,
    'noExcessiveLinesPerFunction',
  ],
  ['src/core/default.ts', 'export default 1;\n', 'noDefaultExport'],
  ['src/core/enum.ts', 'export enum X {\n  A,\n}\n', 'noEnum'],
  ['src/core/property.ts', 'export class X {\n  constructor(readonly a: number) {}\n}\n', 'noParameterProperties'],
  ['src/core/barrel.ts', "export * from './env.ts';\n", 'noBarrelFile'],
  ['src/core/console.ts', "console.log('x');\n", 'noConsole'],
  ['src/core/any.ts', 'export const x = (a: any) => a;\n', 'noExplicitAny'],
  ['src/core/bang.ts', 'export const x = (a?: string) => a!;\n', 'noNonNullAssertion'],
  [
    'src/core/floating.ts',
    'async function f(): Promise<void> {}\nexport function g(): void {\n  f();\n}\n',
    'noFloatingPromises',
  ],
  [
    'src/core/switch.ts',
    "export function f(x: 'a' | 'b'): void {\n  switch (x) {\n    case 'a':\n      return;\n  }\n}\n",
    'useExhaustiveSwitchCases',
  ],
];

function run(command: string, args: string[], cwd: string): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(
      join(REPOSITORY, 'node_modules', '.bin', command),
      args,
      { cwd, maxBuffer: 1 << 26 },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    );
  });
}

async function plant(root: string, files: Iterable<readonly [string, string]>): Promise<void> {
  for (const [path, content] of files) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

test('[GATE1] the linter finds a planted violation of every law', async () => {
  await using dir = await tempDir();
  const config = JSON.parse(await readFile(join(REPOSITORY, 'biome.json'), 'utf8'));
  // The copy lies outside of any repository.
  const copy = JSON.stringify({ ...config, vcs: { enabled: false } });
  await plant(dir.path, [['biome.json', copy], ...PLANTED.map(([path, content]) => [path, content] as const)]);
  const { code, output } = await run('biome', ['lint', '--reporter=json', '--max-diagnostics=none', '.'], dir.path);
  assert.notEqual(code, 0);
  const report = JSON.parse(output.slice(output.indexOf('{"'), output.lastIndexOf('}') + 1)) as {
    diagnostics: { category: string; severity: string; location: { path: string | { file: string } } }[];
  };
  const found = report.diagnostics
    .filter(({ severity }) => severity === 'error' || severity === 'fatal')
    .map(
      ({ category, location: { path } }) =>
        `${typeof path === 'string' ? path : path.file} ${category.split('/').at(-1)}`,
    );
  const missing = PLANTED.map(([path, , rule]) => `${path} ${rule}`).filter((entry) => !found.includes(entry));
  assert.deepEqual(missing, []);
});

test('[GATE2] a file and an export that nobody uses are found', async () => {
  await using dir = await tempDir();
  await plant(dir.path, [
    ['package.json', '{"name": "planted", "type": "module"}'],
    ['knip.json', '{"entry": ["src/main.ts"], "project": ["src/**/*.ts"]}'],
    ['src/main.ts', "import { used } from './used.ts';\nused();\n"],
    ['src/used.ts', 'export const used = () => 1;\nexport const unused = 2;\n'],
    ['src/forgotten.ts', 'export const x = 1;\n'],
  ]);
  await symlink(join(REPOSITORY, 'node_modules'), join(dir.path, 'node_modules'));
  const { code, output } = await run('knip', [], dir.path);
  assert.notEqual(code, 0);
  assert.match(output, /src\/forgotten\.ts/);
  assert.match(output, /unused\b.*src\/used\.ts/);
});

test('[GATE3] the compiler refuses what type stripping cannot run, and what may be undefined', async () => {
  await using dir = await tempDir();
  const config = JSON.parse(await readFile(join(REPOSITORY, 'tsconfig.json'), 'utf8'));
  await plant(dir.path, [
    [
      'tsconfig.json',
      JSON.stringify({ ...config, compilerOptions: { ...config.compilerOptions, types: [] }, include: ['.'] }),
    ],
    ['a.ts', 'export class X {\n  constructor(readonly a: number) {}\n}\n'],
    ['b.ts', 'export const first = (list: string[]): string => list[0];\n'],
  ]);
  const { code, output } = await run('tsc', ['-p', '.'], dir.path);
  assert.notEqual(code, 0);
  assert.match(output, /a\.ts.*TS1294/);
  assert.match(output, /b\.ts.*TS2322/);
});
