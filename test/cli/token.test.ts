import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { secret } from '../../src/cli/secret.ts';
import { loadToken } from '../../src/cli/token.ts';
import { runModule, temporaryDirectory } from './support.ts';

const invalid = (pattern: RegExp) => ({ name: 'CoreError', code: 'config_invalid', message: pattern });

test('[TOK1] the first start makes a token of 256 bits that only its owner can read, and later ones find it', (t) => {
  const dataDir = join(temporaryDirectory(t), 'new', 'data');
  const token = loadToken({ dataDir }).reveal();
  assert.match(token, /^[\w-]{43}$/);
  assert.equal(statSync(join(dataDir, 'token')).mode & 0o777, 0o600);
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  assert.equal(loadToken({ dataDir }).reveal(), token);
  assert.deepEqual(readdirSync(dataDir), ['token']);
});

test('[TOK1] processes that start at the same moment agree on one token', async (t) => {
  const dataDir = temporaryDirectory(t);
  const code = `import { loadToken } from 'src/cli/token.ts';
    console.log(loadToken({ dataDir: process.argv[1] }).reveal());`.replace('process.argv[1]', JSON.stringify(dataDir));
  const outcomes = await Promise.all([runModule(code), runModule(code), runModule(code)]);
  assert.equal(new Set(outcomes.map(({ stdout }) => stdout)).size, 1);
  assert.deepEqual(readdirSync(dataDir), ['token']);
});

test('[TOK2] a configured token wins over a token file, which wins over the data directory', (t) => {
  const dataDir = temporaryDirectory(t);
  const tokenFile = join(dataDir, 'mounted');
  writeFileSync(tokenFile, '  from-file\n');
  assert.equal(loadToken({ dataDir, tokenFile, token: secret('given') }).reveal(), 'given');
  assert.equal(loadToken({ dataDir, tokenFile }).reveal(), 'from-file');
  assert.ok(!existsSync(join(dataDir, 'token')));
});

test('[TOK3] a token in the data directory that others can read is refused, with what to do', (t) => {
  const dataDir = temporaryDirectory(t);
  loadToken({ dataDir });
  const path = join(dataDir, 'token');
  for (const mode of [0o644, 0o640, 0o604, 0o660]) {
    chmodSync(path, mode);
    assert.throws(() => loadToken({ dataDir }), invalid(/other users can read the token; .*chmod 600/));
  }
  chmodSync(path, 0o600);
  assert.equal(loadToken({ dataDir }).reveal(), readFileSync(path, 'utf8').trim());
});

test('[TOK4] a token file that is missing, unreadable or useless stops the start and is not repeated', (t) => {
  const dataDir = temporaryDirectory(t);
  const tokenFile = join(dataDir, 'file');
  assert.throws(() => loadToken({ dataDir, tokenFile }), invalid(/file: the token cannot be read \(ENOENT\)/));
  for (const content of ['', '\n', 'two canaries', 'one\ntwo', 'cänary']) {
    writeFileSync(tokenFile, content);
    assert.throws(() => loadToken({ dataDir, tokenFile }), {
      code: 'config_invalid',
      message: `${tokenFile}: holds no usable token`,
    });
  }
  const notADirectory = join(tokenFile, 'below');
  assert.throws(() => loadToken({ dataDir: notADirectory }), invalid(/cannot be created \(ENOTDIR\)/));
  mkdirSync(join(dataDir, 'token'), { mode: 0o700 });
  assert.throws(() => loadToken({ dataDir }), invalid(/cannot be read \(EISDIR\)/));
});
