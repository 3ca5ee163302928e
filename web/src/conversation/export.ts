/** Takes a whole conversation out of the page: to the clipboard or into a file. Everything is read first. */
import type { OpenSession } from '../state/open-session.ts';
import { copyText } from '../ui/copy.ts';
import { fileName, toMarkdown } from './to-markdown.ts';

export function copyMarkdown(session: OpenSession): Promise<void> {
  return copyText(wholeMarkdown(session));
}

export async function exportMarkdown(session: OpenSession): Promise<void> {
  save(await wholeMarkdown(session), 'text/markdown', fileName(session.view.get().title, 'md'));
}

export async function exportJson(session: OpenSession): Promise<void> {
  await session.readAll();
  const { sessionId, title, cwd, items } = session.view.get();
  const whole = { sessionId, title, cwd, exportedAt: new Date().toISOString(), items };
  save(`${JSON.stringify(whole, null, 2)}\n`, 'application/json', fileName(title, 'json'));
}

async function wholeMarkdown(session: OpenSession): Promise<string> {
  await session.readAll();
  const { items, title } = session.view.get();
  return toMarkdown(items, title);
}

function save(text: string, type: string, name: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
