/** Says something to screen readers, once. What is seen anyway need not be said. */
import { createStore } from '../state/store.ts';

/** What the live region of the page reads out. */
export const announcement = createStore('');

export function announce(text: string): void {
  announcement.set('');
  announcement.set(text);
}
