/** The published package, laid out as an installation has it: what users run, and what starts fastest. */
import { cp, mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle } from '../../scripts/build.ts';
import { REPOSITORY } from './processes.ts';

let laidOut: Promise<string> | undefined;

/** @returns the path of its executable. One layout serves the whole test run. */
export function packagedPixir(): Promise<string> {
  laidOut ??= layOut();
  return laidOut;
}

async function layOut(): Promise<string> {
  // Always the same place: the compile cache goes by path, and without it every start would be a first one.
  const root = join(REPOSITORY, 'node_modules', '.cache', 'pixir-package');
  await rm(root, { recursive: true, force: true });
  await mkdir(root, { recursive: true });
  for (const part of ['bin', 'migrations', 'package.json']) {
    await cp(join(REPOSITORY, part), join(root, part), { recursive: true });
  }
  await symlink(join(REPOSITORY, 'node_modules'), join(root, 'node_modules'));
  await bundle(join(REPOSITORY, 'src', 'main.ts'), join(root, 'dist'));
  return join(root, 'bin', 'pixir');
}
