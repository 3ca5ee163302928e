/**
 * The draft of every Session: its text survives a reload in this browser, its attachments live only as long as the page.
 * What was sent is no draft any more, at once: a reload must not offer it again.
 */
import { account } from '../server/account.ts';
import { keptStore } from '../state/kept.ts';
import { createStore, type Store } from '../state/store.ts';
import { type Draft, EMPTY_DRAFT, type FileLink, isEmpty } from './draft.ts';

interface KeptDraft {
  text: string;
  links: readonly FileLink[];
  /** How many there were. */
  attachments: number;
}

export interface DraftStore extends Store<Draft> {
  change(part: Partial<Draft>): void;
  /** Keeps now what waits to be kept. */
  flush(): void;
}

const KEEP_AFTER_MS = 300;
const NOTHING: KeptDraft = { text: '', links: [], attachments: 0 };

const drafts = new Map<string, DraftStore>();
addEventListener('pagehide', () => {
  for (const draft of drafts.values()) draft.flush();
});
// What one person began to write is not for the next one.
account.subscribe(() => {
  const now = account.get();
  if (now.kind === 'out' && now.why === 'signed_out') drafts.clear();
});

/** The same one for every part of the page. */
export function draftOf(sessionId: string): DraftStore {
  const draft = drafts.get(sessionId) ?? openDraft(sessionId);
  drafts.set(sessionId, draft);
  return draft;
}

function openDraft(sessionId: string): DraftStore {
  const kept = keptStore<KeptDraft>(`draft.${sessionId}`, NOTHING);
  const live = createStore(draftFrom(kept.get()));
  let timer: ReturnType<typeof setTimeout> | undefined;

  function flush(): void {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    const { text, links, attachments } = live.get();
    kept.set({ text, links, attachments: attachments.length });
  }

  function set(next: Draft): void {
    live.set(next);
    timer ??= setTimeout(flush, KEEP_AFTER_MS);
    if (isEmpty(next)) flush();
  }

  // Another tab went on writing, or sent it. What is being written here stays.
  kept.subscribe(() => {
    if (timer === undefined && live.get().attachments.length === 0 && live.get().text !== kept.get().text)
      live.set(draftFrom({ ...kept.get(), attachments: 0 }));
  });

  return { ...live, set, flush, change: (part) => set({ ...live.get(), ...part }) };
}

function draftFrom({ text, links, attachments }: KeptDraft): Draft {
  return { ...EMPTY_DRAFT, text, links, lost: attachments };
}
