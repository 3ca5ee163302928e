/** What may be attached to a prompt, and why something may not. It looks at sizes and bytes, never at what a name claims. */
import { bytesText } from './format.ts';

/** Smaller than what the server takes in one frame, once everything is base64: it names its limits nowhere. */
const MAX_IMAGE_BYTES = 5_000_000;
const MAX_TEXT_BYTES = 256_000;
const MAX_TOTAL_BYTES = 11_000_000;
const MAX_COUNT = 10;

const IMAGES: [type: string, begins: RegExp][] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^474946383[79]61/],
  ['image/webp', /^52494646.{8}57454250/],
];
/** So many bytes tell what it is. */
export const HEAD_BYTES = 12;

/** What an image really is, by how it begins; undefined for one that models do not take, and for everything else. */
export function imageTypeOf(head: Uint8Array): string | undefined {
  const digits = [...head.subarray(0, HEAD_BYTES)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return IMAGES.find(([, begins]) => begins.test(digits))?.[0];
}

/** What the server takes in prompts. */
export interface Taken {
  image: boolean;
  text: boolean;
}

interface Looked {
  name: string;
  size: number;
  /** As the browser calls it. */
  type: string;
  imageType: string | undefined;
}

/** Why it cannot be attached, in a sentence; undefined where it can be read. */
export function refusalOf({ name, size, type, imageType }: Looked, taken: Taken): string | undefined {
  if (size === 0) return `${name} is empty.`;
  if (imageType !== undefined) {
    if (!taken.image) return `${name} was not added: this server takes no images.`;
    return size > MAX_IMAGE_BYTES ? tooLarge(name, size, 'an image', MAX_IMAGE_BYTES) : undefined;
  }
  if (type.startsWith('image/') && type !== 'image/svg+xml')
    return `${name} was not added: images are PNG, JPEG, GIF or WebP.`;
  if (!taken.text) return `${name} was not added: this server takes no files.`;
  return size > MAX_TEXT_BYTES ? tooLarge(name, size, 'a file', MAX_TEXT_BYTES) : undefined;
}

function tooLarge(name: string, size: number, what: string, most: number): string {
  return `${name} was not added: it has ${bytesText(size)}, and ${what} may have ${bytesText(most)}.`;
}

/** Why there is no room for one more beside those that are there. */
export function noRoomFor(
  added: { name: string; size: number },
  have: readonly { size: number }[],
): string | undefined {
  if (have.length >= MAX_COUNT) return `${added.name} was not added: ${MAX_COUNT} attachments are the most.`;
  const total = have.reduce((sum, { size }) => sum + size, added.size);
  if (total > MAX_TOTAL_BYTES)
    return `${added.name} was not added: attachments may have ${bytesText(MAX_TOTAL_BYTES)} together.`;
  return undefined;
}

/** As it can be shown to a model; undefined where it is no text. */
export function textIn(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
