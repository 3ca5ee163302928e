/** What is installed to build, test and run this, and what SECURITY.md promises of it. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { REPOSITORY } from './support/processes.ts';

interface Locked {
  resolved?: string;
  integrity?: string;
  link?: boolean;
  hasInstallScript?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const read = (path: string) => readFile(join(REPOSITORY, path), 'utf8');

const manifest = JSON.parse(await read('package.json'));
const { '': root, ...packages }: Record<string, Locked> = JSON.parse(await read('package-lock.json')).packages;

test('[SUPPLY1] what npm ci installs is fixed to the byte, and comes from the npm registry only', () => {
  for (const [path, { resolved, integrity, link, ...locked }] of Object.entries(packages)) {
    assert.match(integrity ?? 'none', /^sha512-[A-Za-z0-9+/]{86}==$/, path);
    assert.match(resolved ?? 'https://registry.npmjs.org/', /^https:\/\/registry\.npmjs\.org\//, path);
    assert.equal(link, undefined, path);
    // Git, URLs and files have a colon or a slash; ranges do not.
    for (const range of Object.values({ ...locked.dependencies, ...locked.optionalDependencies }))
      assert.doesNotMatch(range, /[:/]/, path);
  }
  assert.ok(Object.keys(packages).length > 100);
});

test('[SUPPLY2] package.json names exact versions, and the lockfile those', () => {
  const { dependencies, devDependencies } = manifest;
  for (const [name, version] of Object.entries<string>({ ...dependencies, ...devDependencies })) {
    assert.match(version, /^\d+\.\d+\.\d+$/, name);
  }
  assert.partialDeepStrictEqual(root, { dependencies, devDependencies });
});

test('[SUPPLY3] no package runs a script when it is installed unless package.json has decided on it by name', async () => {
  for (const [path, { hasInstallScript }] of Object.entries(packages)) {
    const name = path.replace(/^.*node_modules\//, '');
    const { scripts = {} } = await read(`${path}/package.json`).then(JSON.parse, () => ({}));
    // npm builds what has a binding.gyp, and the lockfile does not say so.
    const runs = hasInstallScript || 'preinstall' in scripts || 'install' in scripts || 'postinstall' in scripts;
    if (runs || existsSync(join(REPOSITORY, path, 'binding.gyp'))) assert.ok(name in manifest.allowScripts, name);
  }
});

test('[SUPPLY4] SECURITY.md names only rules that there are', async () => {
  const rules = new Set((await read('SPEC.md')).match(/(?<=^- \*\*)[A-Z]+\d+(?=\*\* )/gm));
  const cited = (await read('SECURITY.md')).match(/\b[A-Z]{2,}\d+\b/g) ?? [];
  assert.ok(cited.length > 20);
  assert.deepEqual(
    cited.filter((rule) => !rules.has(rule)),
    [],
  );
});
