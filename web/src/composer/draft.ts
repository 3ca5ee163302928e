/** What a person is about to send, and the blocks of a prompt that it becomes and comes back from. Pure: it reads and keeps nothing. */
import type { ContentBlock } from '@agentclientprotocol/sdk';

/** A file of the workspace that was chosen as `@path`. */
export interface FileLink {
  path: string;
  uri: string;
}

interface Attached {
  id: number;
  name: string;
  /** Bytes. */
  size: number;
  mimeType: string;
}

export type Attachment = Attached & ({ kind: 'image'; data: string } | { kind: 'text'; text: string });

export interface Draft {
  text: string;
  links: readonly FileLink[];
  attachments: readonly Attachment[];
  /** Attachments that it had before the page was loaded anew. */
  lost: number;
}

export const EMPTY_DRAFT: Draft = { text: '', links: [], attachments: [], lost: 0 };

export function isEmpty({ text, attachments }: Draft): boolean {
  return text.trim() === '' && attachments.length === 0;
}

/** The text first, because a command stands at its beginning; then what it mentions, then what is attached. */
export function blocksOf({ text, links, attachments }: Draft): ContentBlock[] {
  const written = text.trimEnd();
  return [
    ...(written.trim() === '' ? [] : [{ type: 'text' as const, text: written }]),
    ...mentioned(links, written).map(({ path, uri }) => ({ type: 'resource_link' as const, uri, name: path })),
    ...attachments.map(blockOf),
  ];
}

function blockOf(attachment: Attachment): ContentBlock {
  const { mimeType } = attachment;
  const uri = uriOf(attachment.name);
  if (attachment.kind === 'image') return { type: 'image', data: attachment.data, mimeType, uri };
  return { type: 'resource', resource: { uri, mimeType, text: attachment.text } };
}

/** Of those that were chosen, each once, the ones whose `@path` still stands in the text. */
export function mentioned(links: readonly FileLink[], text: string): FileLink[] {
  const byPath = new Map(links.map((link) => [link.path, link]));
  return [...byPath.values()].filter(({ path }) => mentions(text, path));
}

/** Not within a longer path: `@src/a.ts` is not meant by `@src/a.tsx`; a full stop may end a sentence. */
function mentions(text: string, path: string): boolean {
  const word = `@${path}`;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const isWord = !/[\p{L}\p{N}_]$/u.test(text.slice(Math.max(0, at - 2), at));
    if (isWord && !/^(?:[\p{L}\p{N}_-]|[./][\p{L}\p{N}_-])/u.test(text.slice(at + word.length, at + word.length + 4)))
      return true;
  }
  return false;
}

/** A prompt that was not sent yet, in the field again, before what is there. */
export function takenBack(draft: Draft, content: readonly ContentBlock[], newId: () => number): Draft {
  const text = [textOf(content), draft.text].filter((part) => part.trim() !== '').join('\n\n');
  const links = content.flatMap((block) =>
    block.type === 'resource_link' ? [{ path: block.name, uri: block.uri }] : [],
  );
  const attachments = content.flatMap((block) => attachmentOf(block, newId) ?? []);
  return {
    ...draft,
    text,
    links: [...links, ...draft.links],
    attachments: [...attachments, ...draft.attachments],
  };
}

function attachmentOf(block: ContentBlock, newId: () => number): Attachment | undefined {
  if (block.type === 'image') {
    const { data, mimeType, uri } = block;
    return { kind: 'image', id: newId(), name: nameOf(uri) ?? 'Image', size: decodedSize(data), mimeType, data };
  }
  if (block.type !== 'resource' || !('text' in block.resource)) return undefined;
  const { text, uri, mimeType } = block.resource;
  const size = new TextEncoder().encode(text).length;
  return { kind: 'text', id: newId(), name: nameOf(uri) ?? 'File', size, mimeType: mimeType ?? 'text/plain', text };
}

/** In one line. */
export function summaryOf(content: readonly ContentBlock[]): string {
  const images = content.filter(({ type }) => type === 'image').length;
  const files = content.filter(({ type }) => type === 'resource').length;
  const beside = [count(images, 'image'), count(files, 'file')].filter(Boolean).join(', ');
  return [textOf(content).slice(0, 400), beside && `(${beside})`].filter(Boolean).join(' ');
}

const MAX_KEPT = 2_000_000;

/** Browsers keep some five million characters for a whole origin; what waits in the queue is kept there. */
export function isTooLargeToKeep(content: readonly ContentBlock[]): boolean {
  const sizes = content.map((block) => {
    if (block.type === 'image') return block.data.length;
    return block.type === 'resource' && 'text' in block.resource ? block.resource.text.length : 0;
  });
  return sizes.reduce((sum, size) => sum + size, 0) > MAX_KEPT;
}

function count(number: number, what: string): string {
  return number === 0 ? '' : `${number} ${what}${number === 1 ? '' : 's'}`;
}

function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

/** Of base64. */
function decodedSize(data: string): number {
  return Math.floor((data.length * 3) / 4) - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0);
}

const SCHEME = 'attachment:///';

/** What a page is given has a name and no path: this names no file of anybody's. */
function uriOf(name: string): string {
  return SCHEME + encodeURIComponent(name.toWellFormed());
}

function nameOf(uri: string | null | undefined): string | undefined {
  return uri?.startsWith(SCHEME) ? decodeURIComponent(uri.slice(SCHEME.length)) : undefined;
}
