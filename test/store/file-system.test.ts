import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseNetwork } from '../../src/store/file-system.ts';
import { tempDir } from '../support/temp-dir.ts';
import { failsWith } from './support.ts';

test('[STORE18] a data directory on a network file system is refused, one on a local disk is not', async () => {
  await using dir = await tempDir();
  refuseNetwork(dir.path);
  const cases: [number, string][] = [
    [0x6969, 'NFS'],
    [0xff534d42, 'CIFS'],
    [0xff534d42 | 0, 'CIFS'],
    [0x01021997, '9P'],
  ];
  for (const [type, name] of cases) {
    assert.throws(() => refuseNetwork(dir.path, type), failsWith('config_invalid', new RegExp(name)));
  }
  // ext4, btrfs, xfs, tmpfs, overlay, zfs
  for (const type of [0xef53, 0x9123683e, 0x58465342, 0x01021994, 0x794c7630, 0x2fc12fc1])
    refuseNetwork(dir.path, type);
});
