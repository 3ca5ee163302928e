/** Where this package lies and which version it is, for source and bundle alike. It must never look outside its root. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The directory that holds package.json, bin and migrations. A bundle lies at another depth than its source. */
export function packageRoot(from: string = import.meta.dirname): string {
  return existsSync(join(from, 'package.json')) ? from : packageRoot(dirname(from));
}

export function packageVersion(): string {
  return JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')).version;
}
