/**
 * A disk whose power can be cut: only what was synced is certain to be there. It must never keep more than a real disk
 * has to.
 */
import type { Operation } from './trace.ts';

export interface Disk {
  apply(operation: Operation): void;
  /** The files that a cut at this instant could leave, by path. Changes nothing. */
  cut(random: () => number): Map<string, Uint8Array>;
}

type Change = Extract<Operation, { kind: 'write' | 'truncate' }>;

interface File {
  durable: Uint8Array;
  /** Since its last sync. */
  pending: Change[];
}

/** A name that comes, or goes when it has no file. Certain only when the directory is synced. */
interface Naming {
  path: string;
  file?: File;
}

/** What becomes of a change that was not synced; the others are on the disk. */
const DROPPED = 0.45;
const TORN = 0.15;
const SECTOR = 512;
const LARGEST_FILE = 2 ** 26;

export function simulatedDisk(): Disk {
  const files = new Map<string, File>();
  const durableNames = new Map<string, File>();
  let pendingNames: Naming[] = [];

  function enter(naming: Naming): void {
    name(files, naming);
    pendingNames.push(naming);
  }

  function opened(path: string): File {
    const file = files.get(path);
    if (!file) throw new Error(`${path} was never created`);
    return file;
  }

  function sync(file: File): void {
    for (const change of file.pending) perform(file.durable, change);
    file.pending = [];
  }

  return {
    apply(operation) {
      switch (operation.kind) {
        case 'create':
          if (!files.has(operation.path)) enter({ path: operation.path, file: { durable: emptyFile(), pending: [] } });
          return;
        case 'unlink':
          return enter({ path: operation.path });
        case 'write':
        case 'truncate':
          opened(operation.path).pending.push(operation);
          return;
        case 'sync':
          return sync(opened(operation.path));
        case 'sync names':
          for (const naming of pendingNames) name(durableNames, naming);
          pendingNames = [];
          return;
        case 'say':
          return;
      }
    },
    cut(random) {
      const left = new Map(durableNames);
      for (const naming of pendingNames) if (random() >= DROPPED) name(left, naming);
      return new Map([...left].map(([path, file]) => [path, remains(file, random)]));
    },
  };
}

function name(files: Map<string, File>, { path, file }: Naming): void {
  if (file) files.set(path, file);
  else files.delete(path);
}

function remains({ durable, pending }: File, random: () => number): Uint8Array {
  const content = emptyFile();
  put(content, 0, durable);
  for (const change of pending) {
    const fate = random();
    if (fate >= DROPPED + TORN) perform(content, change);
    else if (fate >= DROPPED && change.kind === 'write') put(content, change.at, torn(change, random()));
  }
  return content;
}

/** The part of a write before a random boundary between two sectors. */
function torn({ at, bytes }: Extract<Change, { kind: 'write' }>, random: number): Uint8Array {
  const boundary = Math.floor((at + random * bytes.length) / SECTOR) * SECTOR;
  return bytes.subarray(0, Math.max(0, boundary - at));
}

function perform(content: Uint8Array, change: Change): void {
  if (change.kind === 'write') put(content, change.at, change.bytes);
  else resize(content, change.size);
}

function put(content: Uint8Array, at: number, bytes: Uint8Array): void {
  if (at + bytes.length > content.length) resize(content, at + bytes.length);
  content.set(bytes, at);
}

/** Its length follows that of its buffer. */
function emptyFile(): Uint8Array {
  return new Uint8Array(new ArrayBuffer(0, { maxByteLength: LARGEST_FILE }));
}

function resize(content: Uint8Array, size: number): void {
  (content.buffer as ArrayBuffer).resize(size);
}
