/** The ways in for images and text files: a button, pasting, and dropping anywhere on the page. What is refused is said. */
import { Paperclip } from 'lucide-react';
import { type ClipboardEvent, useEffect, useEffectEvent, useRef, useState } from 'react';
import type { Client } from '../server/client.ts';
import { IconButton } from '../ui/button.tsx';
import { noRoomFor, type Taken } from './attachments.ts';
import type { DraftStore } from './drafts.ts';
import { readFile } from './read-file.ts';

/** What this server takes; before it has said so, what Pixir takes. */
export function takenBy(client: Client): Taken {
  const capabilities = client.server?.agentCapabilities?.promptCapabilities;
  return { image: capabilities?.image ?? !client.server, text: capabilities?.embeddedContext ?? !client.server };
}

/** Empty where it takes nothing. */
function namesOf(taken: Taken): string {
  return [taken.image && 'images', taken.text && 'text files'].filter(Boolean).join(' or ');
}

/** Reads files into a draft, in their order. @returns why some are not in it. */
export async function attach(files: readonly File[], draft: DraftStore, taken: Taken): Promise<string[]> {
  const refused: string[] = [];
  for (const file of files) {
    const read = noRoomFor(file, draft.get().attachments) ?? (await readFile(file, taken));
    if (typeof read === 'string') refused.push(read);
    else draft.change({ attachments: [...draft.get().attachments, read], lost: 0 });
  }
  return refused;
}

/** Files on the clipboard. Where there is text too, as from an office program, the text is meant. */
export function pastedFiles(event: ClipboardEvent): File[] {
  const { files, types } = event.clipboardData;
  return types.includes('text/plain') ? [] : [...files];
}

export function AttachButton({ taken, onFiles }: { taken: Taken; onFiles(files: File[]): void }) {
  const input = useRef<HTMLInputElement>(null);
  const what = namesOf(taken);
  if (!what) return null;
  return (
    <>
      <IconButton icon={Paperclip} label={`Attach ${what}`} small onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        accept={taken.text ? undefined : 'image/png,image/jpeg,image/gif,image/webp'}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          // The same file may be chosen again.
          currentTarget.value = '';
        }}
      />
    </>
  );
}

/**
 * Covers the conversation while files are dragged over the page. One that misses it must not be opened by the browser in
 * place of the page.
 */
export function DropZone({ taken, onFiles }: { taken: Taken; onFiles(files: File[]): void }) {
  const zone = useRef<HTMLDivElement>(null);
  const [isOver, setOver] = useState(false);
  const dropped = useEffectEvent((event: DragEvent) => {
    if (zone.current?.contains(event.target as Node)) onFiles([...(event.dataTransfer?.files ?? [])]);
  });

  useEffect(() => {
    const life = new AbortController();
    const on = (type: 'dragenter' | 'dragover' | 'dragleave' | 'drop', listener: (event: DragEvent) => void) =>
      addEventListener(
        type,
        (event) => {
          if (!event.dataTransfer?.types.includes('Files')) return;
          event.preventDefault();
          listener(event);
        },
        life,
      );
    on('dragenter', () => setOver(true));
    on('dragover', () => undefined);
    // Out of the window.
    on('dragleave', (event) => event.relatedTarget === null && setOver(false));
    on('drop', (event) => {
      dropped(event);
      setOver(false);
    });
    return () => life.abort();
  }, []);

  const what = namesOf(taken);
  if (!isOver || !what) return null;
  return (
    <div ref={zone} className="drop-zone">
      <p>Drop {what} here</p>
    </div>
  );
}
