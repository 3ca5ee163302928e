/** Which keys were pressed, on whatever keyboard. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comboOf, isTyped, type KeyPress, keycaps } from '../../web/src/sessions/combos.ts';

function press(key: string, code: string, held = ''): KeyPress {
  const [ctrlKey, metaKey, altKey, shiftKey] = ['ctrl', 'meta', 'alt', 'shift'].map((one) => held.includes(one));
  return { key, code, ctrlKey: !!ctrlKey, metaKey: !!metaKey, altKey: !!altKey, shiftKey: !!shiftKey };
}

test('Mod is Cmd for Apple and Ctrl for others', () => {
  assert.equal(comboOf(press('k', 'KeyK', 'ctrl'), false), 'Mod+k');
  assert.equal(comboOf(press('k', 'KeyK', 'meta'), true), 'Mod+k');
  assert.equal(comboOf(press('k', 'KeyK', 'ctrl'), true), 'Ctrl+k');
  assert.equal(comboOf(press('k', 'KeyK', 'meta'), false), 'Meta+k');
});

test('the key counts as it is printed', () => {
  assert.equal(comboOf(press('?', 'Minus', 'shift'), false), '?');
  assert.equal(comboOf(press('/', 'Digit7', 'shift'), false), '/');
  assert.equal(comboOf(press('т', 'KeyN'), false), 'n');
  assert.equal(comboOf(press('¡', 'Digit1', 'alt'), true), 'Alt+1');
  assert.equal(comboOf(press('N', 'KeyN'), false), 'n', 'by the lock');
  assert.equal(comboOf(press('N', 'KeyN', 'shift'), false), 'N');
  assert.equal(comboOf(press('[', 'Digit8', 'ctrl alt'), false), 'Mod+Alt+8', 'AltGr is no Alt');
});

test('what would be typed into a field is not taken from it', () => {
  for (const typed of ['n', '/', '?', 'Enter', 'g l']) assert.equal(isTyped(typed, false), true, typed);
  for (const free of ['Mod+k', 'Alt+1', 'Alt+ArrowDown', 'F2']) assert.equal(isTyped(free, false), false, free);
  assert.equal(isTyped('Alt+5', true), true, 'a bracket, on some keyboards of Apple');
  assert.equal(isTyped('Mod+k', true), false);
});

test('keys are drawn as they are printed', () => {
  assert.deepEqual(keycaps('Mod+k', false), ['Ctrl', 'K']);
  assert.deepEqual(keycaps('Mod+k', true), ['⌘', 'K']);
  assert.deepEqual(keycaps('g l', false), ['G', 'L']);
  assert.deepEqual(keycaps('Escape Escape', false), ['Esc', 'Esc']);
});
