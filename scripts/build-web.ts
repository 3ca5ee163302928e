/**
 * Builds the browser UI into web/dist, with a compressed copy beside each file that gains by it. With `--if-needed` it does
 * nothing where no source has changed since.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build, type Plugin } from 'vite';
import { licenses, packagesIn } from './packages.ts';

const ROOT = join(import.meta.dirname, '..');
const WEB = join(ROOT, 'web');
const DIST = join(WEB, 'dist');
/** What the build in web/dist was made of. */
const STAMP = join(DIST, '.sources');
const COMPRESSED = new Set(['.css', '.html', '.js', '.svg', '.webmanifest']);

/** @returns the paths of the packages that went into it; none where nothing was built. */
export async function buildWeb({ ifNeeded = false } = {}): Promise<string[]> {
  const sources = await hashOfSources();
  if (ifNeeded && (await readFile(STAMP, 'utf8').catch(() => '')) === sources) return [];
  const files = new Set<string>();
  const plugins = [collector(files)];
  await build({ root: WEB, logLevel: 'warn', plugins, worker: { plugins: () => plugins } });
  await compress();
  const packages = packagesIn(files);
  await writeFile(join(DIST, 'LICENSES.txt'), await licenses(packages));
  await writeFile(STAMP, sources);
  return packages;
}

/** Which files were read, of workers and fonts too. */
function collector(files: Set<string>): Plugin {
  return {
    name: 'collect-files',
    moduleParsed: ({ id }) => void files.add(id.replace(/[\0?].*$/, '')),
    generateBundle(_options, bundle) {
      for (const output of Object.values(bundle))
        if (output.type === 'asset') for (const name of output.originalFileNames) files.add(join(WEB, name));
    },
  };
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256').update(await readFile(join(ROOT, 'package-lock.json')));
  for (const directory of [WEB, join(ROOT, 'src', 'client')]) {
    for (const path of (await filesIn(directory)).sort()) hash.update(path).update(await readFile(path));
  }
  return hash.digest('hex');
}

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return paths.filter((path) => !path.startsWith(DIST));
}

async function compress(): Promise<void> {
  const best = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  const paths = (await readdir(DIST, { recursive: true })).map((name) => join(DIST, name));
  await Promise.all(
    paths
      .filter((path) => COMPRESSED.has(extname(path)))
      .map(async (path) => {
        const content = await readFile(path);
        await writeFile(`${path}.br`, await promisify(brotliCompress)(content, best));
        await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
      }),
  );
}

if (import.meta.main) await buildWeb({ ifNeeded: process.argv.includes('--if-needed') });
