/** What a person does to a Session as a whole: forking, copying its address, exporting it. What fails is said, never swallowed. */
import { ClientError } from '../../../src/client/rpc.ts';
import type { Client } from '../server/client.ts';
import type { OpenSession } from '../state/open-session.ts';
import { goTo, linkTo } from '../state/route.ts';
import { createStore } from '../state/store.ts';
import { copyText } from '../ui/copy.ts';
import { toast } from '../ui/toast.tsx';

export interface Subject {
  sessionId: string;
  /** As it is shown. */
  title: string;
  cwd: string;
}

/** The dialog about one Session that is open. */
export const asked = createStore<{ kind: 'rename' | 'delete'; subject: Subject } | undefined>(undefined);

const forking = new Set<string>();

/** A second click while the first one is under way makes no second fork. */
export async function fork(client: Client, { sessionId, cwd }: Pick<Subject, 'sessionId' | 'cwd'>): Promise<void> {
  if (forking.has(sessionId)) return;
  forking.add(sessionId);
  await saying('The Session could not be forked', async () => {
    const forked = await client.request('session/fork', { sessionId, cwd, mcpServers: [] });
    goTo({ page: 'session', sessionId: forked.sessionId, view: 'conversation' });
  });
  forking.delete(sessionId);
}

export async function copyLink(sessionId: string): Promise<void> {
  await saying('The link could not be copied', async () => {
    const link = new URL(linkTo({ page: 'session', sessionId, view: 'conversation' }), location.href).href;
    await copyText(link);
    toast('Link copied');
  });
}

export function copyConversation(session: OpenSession): Promise<void> {
  return saying('The conversation could not be copied', async () => {
    const { copyMarkdown } = await import('../conversation/export.ts');
    await copyMarkdown(session);
    toast('Conversation copied as Markdown');
  });
}

export function exportConversation(session: OpenSession, format: 'markdown' | 'json'): Promise<void> {
  return saying('The conversation could not be exported', async () => {
    const { exportJson, exportMarkdown } = await import('../conversation/export.ts');
    await (format === 'json' ? exportJson(session) : exportMarkdown(session));
  });
}

async function saying(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    toast(`${what}. ${problemOf(error)}`, { failed: true });
  }
}

/** For people. */
export function problemOf(error: unknown): string {
  if (error instanceof ClientError && error.reason === 'refused') return 'The server refuses this browser.';
  if (error instanceof DOMException && error.name === 'NotAllowedError') return 'The browser does not allow it.';
  const text = (error instanceof Error ? error.message : String(error)).replace(/^cwd\b/, 'The folder');
  return text.charAt(0).toUpperCase() + text.slice(1).replace(/[^.!?]$/, '$&.');
}
