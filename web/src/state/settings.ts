/** What the person has chosen for this browser. */
import { keptStore } from './kept.ts';

export interface Settings {
  theme: 'system' | 'light' | 'dark';
  /** System notifications when someone is needed: asked for once, by the person. */
  notify: boolean;
  diff: 'split' | 'unified';
  /** Enter sends; else it is a new line, and Ctrl or Cmd with Enter sends. */
  enterSends: boolean;
}

export const settings = keptStore<Settings>('settings', {
  theme: 'system',
  notify: false,
  diff: 'unified',
  enterSends: true,
});

export function choose(changes: Partial<Settings>): void {
  settings.set({ ...settings.get(), ...changes });
}
