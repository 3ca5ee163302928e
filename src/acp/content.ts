/**
 * The content of a prompt between the wire and the Log: on the wire images and resources carry their bytes, in the Log
 * the hash of a blob. It must never let through bytes that it has not verified.
 */
import type { ContentBlock as WireBlock } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { blobHash, type LoadedBlobs } from '../core/blobs.ts';
import type { ContentBlock } from '../core/event.ts';
import { isWithin } from '../core/principal.ts';
import { invalidParams } from './errors.ts';

// Fixed, not settings: what models take is fixed as well, and a frame has a limit of its own.
const MAX_IMAGE_BYTES = 10 * 1024 * 1024;
const MAX_RESOURCE_BYTES = 4 * 1024 * 1024;
const MAX_PROMPT_BYTES = 16 * 1024 * 1024;
const MAX_PROMPT_BLOBS = 20;

/** How a file of each kind begins, in hexadecimal: what models take, and what it must really be. */
const IMAGES = {
  'image/png': /^89504e470d0a1a0a/,
  'image/jpeg': /^ffd8ff/,
  'image/gif': /^474946383[79]61/,
  'image/webp': /^52494646.{8}57454250/,
} as const;
const IMAGE_TYPES = Object.keys(IMAGES) as (keyof typeof IMAGES)[];

/** One block as the Log keeps it, and its bytes where it has some. */
interface Piece {
  block: ContentBlock;
  bytes?: Uint8Array;
}

const textSchema = z.object({ type: z.literal('text'), text: z.string() }).transform((block): Piece => ({ block }));

const linkSchema = z
  .object({
    type: z.literal('resource_link'),
    uri: z.string(),
    name: z.string(),
    title: z.string().nullish(),
    description: z.string().nullish(),
    mimeType: z.string().nullish(),
    size: z.number().nullish(),
  })
  .transform((block): Piece => ({ block: present(block) }));

const imageSchema = z
  .object({
    type: z.literal('image'),
    data: base64Schema(MAX_IMAGE_BYTES),
    mimeType: z.enum(IMAGE_TYPES),
    uri: z.string().nullish(),
  })
  .transform(({ type, data: bytes, mimeType, uri }, context): Piece => {
    if (!IMAGES[mimeType].test(encode(bytes.subarray(0, 12), 'hex')))
      return refuse(context, 'the data is no such image');
    return { block: present({ type, hash: blobHash(bytes), mimeType, size: bytes.length, uri }), bytes };
  });

const resourceSchema = z
  .object({
    type: z.literal('resource'),
    resource: z.union([
      z.object({ uri: z.string(), mimeType: z.string().nullish(), text: utf8Schema(MAX_RESOURCE_BYTES) }),
      z.object({ uri: z.string(), mimeType: z.string().nullish(), blob: base64Schema(MAX_RESOURCE_BYTES) }),
    ]),
  })
  .transform(({ type, resource }): Piece => {
    const { uri, mimeType } = resource;
    const [encoding, bytes] =
      'text' in resource ? (['text', resource.text] as const) : (['base64', resource.blob] as const);
    return { block: present({ type, uri, mimeType, hash: blobHash(bytes), size: bytes.length, encoding }), bytes };
  });

/** A prompt with something in it, as its content and the bytes beside it. */
export const promptSchema = z
  .array(z.discriminatedUnion('type', [textSchema, linkSchema, imageSchema, resourceSchema]))
  .transform((pieces, context) => {
    const content = pieces.map(({ block }) => block);
    if (content.every((block) => block.type === 'text' && block.text.trim() === ''))
      return refuse(context, 'the prompt is empty');
    const sizes = pieces.flatMap(({ bytes }) => (bytes ? [bytes.length] : []));
    if (sizes.length > MAX_PROMPT_BLOBS || sizes.reduce((sum, size) => sum + size, 0) > MAX_PROMPT_BYTES)
      return refuse(context, 'the images and resources are too many or too large together');
    const blobs = pieces.flatMap(({ block, bytes }) =>
      bytes && 'hash' in block ? [[block.hash, bytes] as const] : [],
    );
    return { content, blobs: new Map(blobs) };
  });

/** Not `refine`: that one is also asked about what has failed a check before. */
function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

/** Exactly the canonical base64 of at most so many bytes. */
function base64Schema(maxBytes: number) {
  return z
    .string()
    .max(base64Length(maxBytes))
    .transform((data, context) => {
      const bytes = decodeBase64(data);
      if (!bytes) return refuse(context, 'not base64');
      return bytes.length <= maxBytes ? bytes : refuse(context, 'too large');
    });
}

/** The decoder overlooks much; what is shown again must be what came. */
function decodeBase64(data: string): Uint8Array | undefined {
  const bytes = Buffer.from(data, 'base64');
  return encode(bytes, 'base64') === data ? bytes : undefined;
}

function encode(bytes: Uint8Array, encoding: 'base64' | 'hex'): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(encoding);
}

function base64Length(bytes: number): number {
  return 4 * Math.ceil(bytes / 3);
}

/** Text as it is kept. Half of a surrogate pair has no UTF-8, and would come back as something else. */
function utf8Schema(maxBytes: number) {
  return z
    .string()
    .max(maxBytes)
    .transform((text, context) => {
      if (!text.isWellFormed()) return refuse(context, 'not well-formed text');
      const bytes = new TextEncoder().encode(text);
      return bytes.length <= maxBytes ? bytes : refuse(context, 'too large');
    });
}

type Present<T> = { [K in keyof T as null extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as null extends T[K] ? K : never]?: NonNullable<T[K]>;
};

/** Without members that are null, which on the wire means the same as absent. */
function present<T extends object>(block: T): Present<T> {
  return Object.fromEntries(Object.entries(block).filter(([, value]) => value != null)) as Present<T>;
}

/**
 * A link to a file of this machine must be to one of the Session's. Nothing is opened here: this keeps a client from
 * pointing the model elsewhere, and the tools keep the model from going there. What an image or an embedded resource came
 * from does not matter: they bring their bytes.
 *
 * @param realPath of a directory; a client may know the workspace by another name.
 * @throws ProtocolError -32602.
 */
export async function assertInside(
  content: readonly ContentBlock[],
  roots: readonly string[],
  realPath: (directory: string) => Promise<string>,
): Promise<void> {
  const inside = (path: string) => roots.some((root) => isWithin(root, path));
  for (const [index, block] of content.entries()) {
    const file = block.type === 'resource_link' ? fileOf(block.uri) : undefined;
    if (file === undefined || (file !== null && inside(file))) continue;
    const directory = file?.replace(/[\\/][^\\/]*$/, '');
    const real = directory ? await realPath(directory).catch(() => undefined) : undefined;
    if (real === undefined || !inside(real)) {
      throw invalidParams('the file is outside the workspace', { field: `prompt.${index}` });
    }
  }
}

/** The path that a URI names, without `.` and `..`; null when it is a file's and cannot be trusted, undefined when it is no file's. */
function fileOf(uri: string): string | null | undefined {
  const url = URL.parse(uri);
  const isFile = url ? url.protocol === 'file:' : /^file:/i.test(uri.replace(/[\s\p{Cc}]/gu, ''));
  if (!isFile) return undefined;
  // An encoded separator makes a path of several steps look like one; NUL ends it for some readers and not for others.
  if (url?.host !== '' || /%(?:2f|5c|00)/i.test(url.pathname)) return null;
  try {
    const path = decodeURIComponent(url.pathname);
    return /^\/[A-Za-z]:\//.test(path) ? path.slice(1).replaceAll('/', '\\') : path;
  } catch {
    return null;
  }
}

/** The URI of an absolute path, which `fileOf` reads. */
export function fileUri(path: string): string {
  return `file://${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** A byte order mark is a part of the text. */
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** A block as a client sees it, with its bytes; where they are lost, a note in their place. */
export function wireBlock(block: ContentBlock, blobs: LoadedBlobs): WireBlock {
  if (block.type === 'text' || block.type === 'resource_link') return block;
  const bytes = blobs.get(block.hash);
  if (!bytes) return { type: 'text', text: `[Lost: ${block.type} of ${block.size} bytes]` };
  if (block.type === 'image') {
    const { type, mimeType, uri } = block;
    return { type, data: encode(bytes, 'base64'), mimeType, ...(uri === undefined ? {} : { uri }) };
  }
  const { type, uri, mimeType } = block;
  const content = block.encoding === 'text' ? { text: UTF8.decode(bytes) } : { blob: encode(bytes, 'base64') };
  return { type, resource: { uri, ...(mimeType === undefined ? {} : { mimeType }), ...content } };
}
