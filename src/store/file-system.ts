/**
 * Where a database must not lie: on a network, locks and shared memory are promises that nobody keeps, and SQLite
 * loses what it believed to be safe. Source: sqlite.org/wal.html, statfs(2).
 */
import { statfsSync } from 'node:fs';
import { CoreError } from '../core/errors.ts';

const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9P'],
  [0x564c, 'NCP'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x19830326, 'BeeGFS'],
]);

/** @param type as statfs says it. @throws CoreError `config_invalid`. */
export function refuseNetwork(dir: string, type: number = typeOf(dir)): void {
  // Some systems hand the number on as a signed one.
  const name = NETWORK.get(type >>> 0);
  if (name === undefined) return;
  const message = `${dir} lies on ${name}, where a database loses data: choose a data directory on a local disk`;
  throw new CoreError('config_invalid', message, { dir });
}

/** Elsewhere than on Linux the numbers mean something else. */
function typeOf(dir: string): number {
  return process.platform === 'linux' ? statfsSync(dir).type : 0;
}
