import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROVIDERS } from '../../src/providers/index.ts';

test('[PROV20] every provider has a name, a default model, and its own id', () => {
  for (const [id, entry] of Object.entries(PROVIDERS)) {
    assert.equal(entry.id, id);
    assert.ok(entry.name.length > 0);
    assert.ok(entry.defaultModels.length > 0);
    assert.equal(new Set(entry.defaultModels).size, entry.defaultModels.length);
    assert.equal(typeof entry.create({}).stream, 'function');
  }
  assert.match(PROVIDERS.scripted.name, /demonstration/);
  assert.equal(PROVIDERS.openai.defaultModels[0], 'gpt-5.5');
});

test('[PROV20] the window of a model is known or null, never guessed', () => {
  assert.equal(PROVIDERS.openai.contextWindow('gpt-5.5'), 272_000);
  assert.equal(PROVIDERS['openai-chat'].contextWindow('llama-9'), null);
  assert.equal(PROVIDERS.scripted.contextWindow('scripted-demo'), null);
});
