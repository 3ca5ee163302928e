/** Whose code went into a bundle, and under which licences: they ask to travel along. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** The packages that these files belong to, as package-lock.json spells them. */
export function packagesIn(files: Iterable<string>): string[] {
  const inside = /(?<=^|\/)node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+(?=\/)/;
  const paths = [...files].flatMap((path) => path.match(inside)?.[0] ?? []);
  return [...new Set(paths)].sort();
}

export async function licenses(packages: readonly string[]): Promise<string> {
  const texts = packages.map(async (path) => {
    const directory = join(ROOT, path);
    const { name, version, license } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'));
    const files = (await readdir(directory)).filter((file) => /^(licen[cs]e|notice)/i.test(file));
    const content = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
    return [`${name} ${version} (${license})`, ...content.map((text) => text.trim())].join('\n\n');
  });
  return `${(await Promise.all(texts)).join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
