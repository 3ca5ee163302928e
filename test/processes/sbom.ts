/** What a bill of materials of the published package must hold: read from the package itself, never from what made it. */
import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { join } from 'node:path';
import { sbom } from '../../scripts/sbom.ts';
import { REPOSITORY } from '../support/processes.ts';

interface Component {
  name: string;
  version: string;
  licenses: [{ expression: string }];
  purl: string;
  scope: string;
  properties: { name: string; value: string }[];
}

interface Manifest {
  name: string;
  version: string;
  license: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** Shows that the bill of materials of an installed package names what is in it and beside it, and nothing else. */
export async function assertSbom(installation: string): Promise<void> {
  const dist = join(installation, 'dist');
  const text = await readFile(join(dist, 'sbom.cdx.json'), 'utf8');
  const { components } = JSON.parse(text) as { components: Component[] };
  const withProperty = (wanted: string) =>
    components.filter(({ properties }) => properties.some(({ name, value }) => name === wanted && value === 'true'));

  const paths = [...new Set([...(await bundledPaths(dist)), ...(await shownPaths(join(installation, 'web', 'dist')))])];
  const bundled = await Promise.all(paths.map((path) => readManifest(join(REPOSITORY, path, 'package.json'))));
  assert.ok(bundled.length > 20, 'the bundle was looked at');
  assert.deepEqual(withProperty('pixir:bundled').map(lineOf).sort(), bundled.map(lineOf).sort());

  const { here, elsewhere } = await installedWith(join(REPOSITORY, 'package.json'));
  const installed = withProperty('pixir:installed');
  const isForeign = ({ name, version }: Component) => elsewhere.has(`${name}@${version}`);
  assert.deepEqual(
    installed
      .filter((one) => !isForeign(one))
      .map(lineOf)
      .sort(),
    [...here].sort(),
  );
  assert.deepEqual(new Set(installed.filter(isForeign).map(({ scope }) => scope)), new Set(['optional']));
  assert.equal(installed.filter(isForeign).length, elsewhere.size);

  assert.equal(components.length, new Set([...bundled.map(lineOf), ...installed.map(lineOf)]).size, 'nothing else');
  for (const { name, version, purl } of components)
    assert.equal(purl.replace('%40', '@'), `pkg:npm/${name}@${version}`);
  const lockfile = await readFile(join(REPOSITORY, 'package-lock.json'), 'utf8');
  assert.equal(sbom(lockfile, paths.reverse()), text, 'the same packages give the same bytes');
}

function lineOf(one: Component | Manifest): string {
  return `${one.name} ${one.version} ${'license' in one ? one.license : one.licenses[0].expression}`;
}

/** As the bundle itself says: esbuild writes above each module where it came from. */
async function bundledPaths(dist: string): Promise<string[]> {
  const origin = /^\s*\/\/ (?:\S*?\/)??(node_modules\/(?:\S*\/node_modules\/)?(?:@[^/\s]+\/)?[^/\s]+)\//gm;
  const paths = new Set<string>();
  for await (const file of glob('{.,chunks}/*.js', { cwd: dist })) {
    const code = await readFile(join(dist, file), 'utf8');
    for (const [, path = ''] of code.matchAll(origin)) paths.add(path);
  }
  return [...paths];
}

/** As the licences beside the UI say, whose code has no such comments; what its source imports must be among them. */
async function shownPaths(dist: string): Promise<string[]> {
  const text = await readFile(join(dist, 'LICENSES.txt'), 'utf8');
  const named = [...text.matchAll(/^(@?[\w./-]+) (\d+\.\d+\.\d+) \(.+\)$/gm)].map(
    ([, name, version]) => `${name} ${version}`,
  );
  const { packages } = JSON.parse(await readFile(join(REPOSITORY, 'package-lock.json'), 'utf8'));
  const paths = Object.keys(packages).filter((path) => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return named.includes(`${name} ${packages[path].version}`);
  });
  for await (const file of glob('**/*.{ts,tsx,css}', { cwd: join(REPOSITORY, 'web', 'src') })) {
    const source = await readFile(join(REPOSITORY, 'web', 'src', file), 'utf8');
    for (const [, name = ''] of source.matchAll(
      /^(?:import (?!type )[^;]*?from |import |@import )['"]((?:@[\w-]+\/)?[\w-]+)/gm,
    ))
      assert.ok(paths.includes(`node_modules/${name}`), `${file} imports ${name}`);
  }
  return paths;
}

/** What npm installs with the package: looked up as Node does it, or only named where it is for another platform. */
async function installedWith(manifest: string, here = new Set<string>(), elsewhere = new Set<string>()) {
  const { dependencies, optionalDependencies } = await readManifest(manifest);
  for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies })) {
    const found = lookUp(name, manifest);
    if (!found) elsewhere.add(`${name}@${version}`);
    const line = found && lineOf(await readManifest(found));
    if (!line || here.has(line)) continue;
    here.add(line);
    await installedWith(found, here, elsewhere);
  }
  return { here, elsewhere };
}

function lookUp(name: string, from: string): string | undefined {
  try {
    return findPackageJSON(name, from);
  } catch {
    return undefined;
  }
}

async function readManifest(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(path, 'utf8'));
}
