import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../src/cli/limits.ts';
import { load, messageOf } from './config-support.ts';

test('[CONF2] every limit can be set in the environment and in config.json, and is never nothing', (t) => {
  for (const key of Object.keys(LIMITS) as (keyof typeof LIMITS)[]) {
    const name = `PIXIR_${key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
    assert.equal(load(t, { env: { [name]: '7' } }).config().limits[key], 7);
    const { config } = load(t, { file: { [key]: 8 } });
    assert.deepEqual(config().limits, { ...LIMITS, [key]: 8 });
    const message = messageOf(load(t, { env: { [name]: '0' } }).config);
    assert.equal(message, `${name} (environment): must be a whole number of at least 1`);
  }
});

test('[CONF2] the public URL ends without a slash', (t) => {
  const publicUrl = (url: string) => load(t, { env: { PIXIR_PUBLIC_URL: url } }).config().publicUrl;
  assert.equal(publicUrl('https://example.org/'), 'https://example.org');
  assert.equal(publicUrl('https://example.org/a/b//'), 'https://example.org/a/b');
});
