import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createAuthenticator } from '../../src/cli/authenticator.ts';
import { secret } from '../../src/cli/secret.ts';
import { createToken, type Grant, readTokens, revokeToken } from '../../src/cli/tokens.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { runModule, temporaryDirectory } from './support.ts';

const DAY_MS = 86_400_000;
const grant: Grant = {
  owner: 'local',
  scopes: ['observe', 'prompt'],
  workspaces: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  expiresAt: null,
  via: null,
};

function stage(t: TestContext) {
  const dataDir = temporaryDirectory(t);
  const clock = fakeClock();
  const errors: string[] = [];
  const onError = ({ message }: Error) => void errors.push(message);
  const { authenticate } = createAuthenticator({ dataDir, token: secret('right'), clock, onError });
  const create = (name: string, changed: Partial<Grant> = {}) =>
    createToken(dataDir, name, { ...grant, ...changed }).reveal();
  return { dataDir, clock, errors, authenticate, create, file: (name: string) => join(dataDir, 'tokens', name) };
}

test('[TOK5] only the whole token names the principal', (t) => {
  const { authenticate, create } = stage(t);
  assert.deepEqual(authenticate('right'), { principal: LOCAL });
  const phone = create('phone');
  create('tablet');
  assert.equal(authenticate(phone)?.principal.name, 'phone');
  const wrong = ['', 'righ', 'rightx', 'Right', 'right ', 'x'.repeat(100_000), 'pixir_', phone.slice(0, -1)];
  for (const candidate of [...wrong, `${phone}x`, phone.slice('pixir_'.length), phone.toUpperCase()]) {
    assert.equal(authenticate(candidate), undefined, candidate.slice(0, 60));
  }
});

test('[TOK6] a named token is 256 bits; what is kept of it is a digest in a private file', (t) => {
  const { dataDir, create, file, authenticate } = stage(t);
  const token = create('phone');
  assert.match(token, /^pixir_[\w-]{43}$/);
  assert.notEqual(create('tablet'), token);
  assert.deepEqual(readdirSync(join(dataDir, 'tokens')), ['phone.json', 'tablet.json']);
  assert.equal(statSync(join(dataDir, 'tokens')).mode & 0o777, 0o700);
  assert.equal(statSync(file('phone.json')).mode & 0o777, 0o600);
  const text = readFileSync(file('phone.json'), 'utf8');
  const { sha256, ...rest } = JSON.parse(text);
  assert.ok(!text.includes(token.slice('pixir_'.length)));
  assert.deepEqual(rest, grant);
  assert.equal(authenticate(sha256), undefined, 'the digest opens nothing');
  assert.ok(!JSON.stringify(authenticate(token)).includes(token));
});

test('[TOK7] a token carries what its file says, until it is revoked', (t) => {
  const { dataDir, create, authenticate } = stage(t);
  const token = create('phone', { owner: 'ada', workspaces: ['/w'] });
  const credential = authenticate(token);
  const { owner, scopes, workspaces, name } = credential?.principal ?? LOCAL;
  assert.deepEqual([name, owner, scopes, workspaces], ['phone', 'ada', ['observe', 'prompt'], ['/w']]);
  assert.equal(credential?.holds?.(), true);
  assert.equal(revokeToken(dataDir, 'phone'), true);
  assert.deepEqual([credential?.holds?.(), authenticate(token)], [false, undefined]);
  assert.equal(revokeToken(dataDir, 'phone'), false);
  const next = create('phone');
  assert.deepEqual([credential?.holds?.(), authenticate(token)], [false, undefined], 'another of the same name');
  assert.ok(authenticate(next));
});

test('[TOK7] a token ends at its time', (t) => {
  const { create, authenticate, clock } = stage(t);
  const token = create('phone', { expiresAt: new Date(clock.now() + DAY_MS).toISOString() });
  const credential = authenticate(token);
  clock.advance(DAY_MS - 1);
  assert.deepEqual([credential?.holds?.(), authenticate(token)?.principal.name], [true, 'phone']);
  clock.advance(1);
  assert.deepEqual([credential?.holds?.(), authenticate(token)], [false, undefined]);
});

test('[TOK7] a file that was changed by hand ends what came in with it', (t) => {
  const { create, authenticate, file } = stage(t);
  const token = create('phone');
  const credential = authenticate(token);
  const narrowed = readFileSync(file('phone.json'), 'utf8').replace('"prompt"', '"approve"');
  writeFileSync(file('phone.json'), narrowed);
  assert.equal(credential?.holds?.(), false);
  assert.deepEqual(authenticate(token)?.principal.scopes, ['observe', 'approve']);
});

test('[TOK8] of two tokens of one name there is one; processes that make and revoke at once disturb no other', async (t) => {
  const { dataDir, create } = stage(t);
  create('kept');
  assert.throws(() => create('kept'), { code: 'already_exists' });
  for (let n = 0; n < 20; n++) create(`old-${n}`);
  const code = (half: number) => `import { createToken, revokeToken } from 'src/cli/tokens.ts';
    const grant = ${JSON.stringify(grant)};
    for (let n = ${half}; n < 20; n += 2) {
      createToken(${JSON.stringify(dataDir)}, 'new-' + n, grant);
      revokeToken(${JSON.stringify(dataDir)}, 'old-' + n);
    }`;
  const outcomes = await Promise.all([runModule(code(0)), runModule(code(1))]);
  assert.deepEqual(
    outcomes.map(({ stderr }) => stderr),
    ['', ''],
  );
  const made = Array.from({ length: 20 }, (_, n) => `new-${n}.json`);
  assert.deepEqual(readdirSync(join(dataDir, 'tokens')), ['kept.json', ...made].sort());
});

test('[TOK8] a file that cannot be read is no token, is reported by its path alone, and the others count', (t) => {
  const { dataDir, create, authenticate, errors, file } = stage(t);
  const token = create('phone');
  const good = readFileSync(file('phone.json'), 'utf8');
  const bad = ['', 'canary', '[]', good.replace('observe', 'canary'), good.replace('"owner"', '"canary"')];
  for (const text of bad) {
    writeFileSync(file('bad.json'), text);
    assert.equal(authenticate(token)?.principal.name, 'phone');
    assert.deepEqual(errors.splice(0), [`${file('bad.json')}: is no usable token file`]);
  }
  assert.deepEqual(
    readTokens(dataDir, () => undefined).map(({ name }) => name),
    ['phone'],
  );
});
