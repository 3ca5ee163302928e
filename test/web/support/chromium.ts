/** Which Chromium opens the pages of tests and pictures. The one from npm is unpacked once, for this checkout. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { REPOSITORY } from '../../support/processes.ts';

/** `CHROMIUM_PATH`, the one from npm where there is one for this machine, or the system's. */
export async function chromiumPath(): Promise<string> {
  const named = process.env.CHROMIUM_PATH;
  if (named !== undefined) return named;
  if (process.platform !== 'linux' || process.arch !== 'x64') return '/usr/bin/chromium';
  const directory = join(REPOSITORY, 'node_modules', '.cache', 'chromium-153.0.0');
  if (!existsSync(directory)) await unpack(directory);
  return join(directory, 'chromium');
}

/** It unpacks itself into what it takes for the temporary directory. What was cut, or somebody else did first, is not used. */
async function unpack(directory: string): Promise<void> {
  await mkdir(join(directory, '..'), { recursive: true });
  const own = await mkdtemp(`${directory}-`);
  const before = process.env.TMPDIR;
  process.env.TMPDIR = own;
  try {
    await (await import('@sparticuz/chromium')).default.executablePath();
    await rename(own, directory);
  } catch (error) {
    await rm(own, { recursive: true });
    if (!existsSync(directory)) throw error;
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}
