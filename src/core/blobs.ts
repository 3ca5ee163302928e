/**
 * The port of blobs: bytes that Events refer to by their hash and never hold. A blob belongs to the Sessions that refer
 * to it and goes with the last of them; nobody is ever handed one by its hash alone.
 */
import { hash } from 'node:crypto';
import type { ContentBlock, Event } from './event.ts';
import type { HistoryItem, ProviderRequest } from './provider.ts';

export interface Blobs {
  /**
   * Keeps bytes for a Session and resolves with their hash once they are durable: only then may an Event refer to them.
   * What a crash leaves without an Event is harmless and goes with its Session.
   *
   * @throws CoreError `unknown_session`, `log_write_failed`.
   */
  put(sessionId: string, bytes: Uint8Array): Promise<string>;

  /** Undefined also when what is stored is not what was put. */
  get(hash: string): Promise<Uint8Array | undefined>;
}

/** A block whose bytes are a blob. */
export type BlobBlock = Extract<ContentBlock, { hash: string }>;

/** The bytes that are at hand, by hash. */
export type LoadedBlobs = ReadonlyMap<string, Uint8Array>;

type WithBlobs = Pick<ProviderRequest, 'history' | 'blobs'>;

export const NO_BLOBS: LoadedBlobs = new Map();

export function blobHash(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

/** What an Event refers to, in order. */
export function blobsOf(event: Event): BlobBlock[] {
  return event.type === 'user_message' ? event.data.content.filter(isBlob) : [];
}

/** Those that are there; whoever shows them says what is missing. */
export async function loadBlobs(blobs: Blobs, blocks: readonly BlobBlock[]): Promise<LoadedBlobs> {
  const loaded = new Map<string, Uint8Array>();
  for (const { hash } of blocks) {
    const bytes = loaded.get(hash) ?? (await blobs.get(hash));
    if (bytes) loaded.set(hash, bytes);
  }
  return loaded;
}

/** What one call to a model may carry: the oldest are left out first, so that a Session of many images goes on. */
const MAX_CALL_BYTES = 32 * 1024 * 1024;

/**
 * The history as a model is shown it, with the blobs it refers to: read for each call and kept nowhere. A block that is
 * left out names no blob. Each time that a blob is shown counts, for it is sent each time.
 */
export async function withBlobs(blobs: Blobs, history: readonly HistoryItem[]): Promise<WithBlobs> {
  const shown: BlobBlock[] = [];
  let room = MAX_CALL_BYTES;
  const show = (block: ContentBlock): ContentBlock => {
    if (!isBlob(block)) return block;
    room -= block.size;
    if (room < 0) return { ...block, hash: '' };
    shown.push(block);
    return block;
  };
  const newestFirst = history.toReversed().map((item) => {
    return item.type === 'user' ? { ...item, content: item.content.toReversed().map(show).reverse() } : item;
  });
  return { history: newestFirst.reverse(), blobs: await loadBlobs(blobs, shown) };
}

function isBlob(block: ContentBlock): block is BlobBlock {
  return 'hash' in block;
}
