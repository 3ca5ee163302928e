/** What of the page's frame is open: on a phone the list of Sessions is a drawer, and a panel beside the conversation a sheet. */
import { createStore } from './store.ts';

export type Panel = 'none' | 'plan' | 'wire';

export const shell = createStore<{
  drawer: boolean;
  panel: Panel;
  dialog: 'none' | 'new' | 'settings' | 'keys';
  /** Finding in the conversation. */
  find: boolean;
}>({
  drawer: false,
  panel: 'none',
  dialog: 'none',
  find: false,
});

/** Counts up with each prompt that the person sends: they want to see what comes of it, wherever they were reading. */
export const prompted = createStore(0);

export function show(part: Partial<ReturnType<typeof shell.get>>): void {
  shell.set({ ...shell.get(), ...part });
}

export function togglePanel(panel: Panel): void {
  show({ panel: shell.get().panel === panel ? 'none' : panel });
}
