/**
 * Makes dist for the published package: src/main.ts as one file per lazily imported part, so that a command loads what it
 * needs in few reads, the reference client as one file with its types, and the bill of materials; and web/dist, the UI. It must never bundle a
 * package that finds native files relative to itself.
 */
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { buildWeb } from './build-web.ts';
import { licenses, packagesIn } from './packages.ts';
import { sbom } from './sbom.ts';

const ROOT = join(import.meta.dirname, '..');

/** Native, or (pino) loaded by the logger with `require` on its first line: once, from node_modules, for everybody. */
const EXTERNAL = ['better-sqlite3', '@vscode/ripgrep', 'pino', 'pino-pretty'];
/** ws uses these where somebody installed them. */
const OPTIONAL = ['bufferutil', 'utf-8-validate'];

/** CommonJS packages inside an ES module still call `require` for Node's own modules. */
const BANNER = `import { createRequire as createRequireForBundle } from 'node:module';
const require = createRequireForBundle(import.meta.url);`;

/** @returns the paths of the packages that went into the bundle. */
export async function bundle(entry: string, outdir: string): Promise<string[]> {
  await rm(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: [{ in: entry, out: 'main' }],
    outdir,
    absWorkingDir: ROOT,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: BANNER },
    external: [...EXTERNAL, ...OPTIONAL],
    legalComments: 'eof',
    metafile: true,
    logLevel: 'warning',
  });
  const packages = packagesIn(Object.keys(metafile.inputs));
  await writeFile(join(outdir, 'LICENSES.txt'), await licenses(packages));
  return packages;
}

/** For browsers and Node alike: no package, no module of Node's. */
export async function bundleClient(outfile: string): Promise<void> {
  const entryPoints = [join(ROOT, 'src', 'client', 'connect.ts')];
  const shape = { bundle: true, minify: true, format: 'esm', platform: 'neutral', target: 'es2022' } as const;
  await build({ entryPoints, outfile, absWorkingDir: ROOT, ...shape, logLevel: 'warning' });
}

async function declareClient(outDir: string): Promise<void> {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  await promisify(execFile)(process.execPath, [tsc, '-p', join(ROOT, 'tsconfig.client.json'), '--outDir', outDir]);
}

if (import.meta.main) {
  const dist = join(ROOT, 'dist');
  const bundled = await bundle(join(ROOT, 'src', 'main.ts'), dist);
  const shown = await buildWeb();
  const packages = [...new Set([...bundled, ...shown])];
  const materials = sbom(await readFile(join(ROOT, 'package-lock.json'), 'utf8'), packages);
  await Promise.all([
    bundleClient(join(dist, 'client.js')),
    declareClient(join(dist, 'types')),
    writeFile(join(dist, 'sbom.cdx.json'), materials),
  ]);
}
