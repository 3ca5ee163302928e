/**
 * Output bounding: what a tool hands to the model fits a fixed budget and says where it was cut. Never splits a
 * character, and never holds more of an endless output than it will show.
 */

/** Most bytes of UTF-8 that one result shows. */
export const OUTPUT_BYTES = 16_000;
const HALF = OUTPUT_BYTES / 2;

export interface OutputBuffer {
  write(chunk: Buffer): void;
  /** The whole output, or its head and its tail with a marker between them. */
  text(): string;
  /** The last part of the output, for showing it while it grows. */
  tail(): string;
}

/** Takes output of any length and keeps its first and its last 8 kB. */
export function createOutputBuffer(): OutputBuffer {
  const head = Buffer.alloc(HALF);
  const tail = Buffer.alloc(HALF);
  let headLength = 0;
  let tailLength = 0;
  let total = 0;

  function keepTail(bytes: Buffer): void {
    const kept = bytes.subarray(-HALF);
    const overflow = Math.max(0, tailLength + kept.length - HALF);
    tail.copyWithin(0, overflow, tailLength);
    tailLength -= overflow;
    tailLength += kept.copy(tail, tailLength);
  }

  function whole(): Buffer {
    return Buffer.concat([head.subarray(0, headLength), tail.subarray(0, tailLength)]);
  }

  return {
    write(chunk) {
      total += chunk.length;
      const taken = chunk.copy(head, headLength);
      headLength += taken;
      if (taken < chunk.length) keepTail(chunk.subarray(taken));
    },
    text() {
      if (total <= OUTPUT_BYTES) {
        const text = whole().toString();
        // Every invalid byte becomes a character of three bytes, so binary output can outgrow the budget here.
        if (Buffer.byteLength(text) <= OUTPUT_BYTES) return text;
      }
      const first = firstBytes(withoutPartialEnd(head.subarray(0, headLength)).toString(), HALF);
      const last = lastBytes(withoutPartialStart(tail.subarray(0, tailLength)).toString(), HALF);
      const omitted = Math.max(1, total - Buffer.byteLength(first) - Buffer.byteLength(last));
      return `${first}\n…[${omitted} bytes omitted]…\n${last}`;
    },
    tail() {
      const bytes = total <= OUTPUT_BYTES ? whole() : tail.subarray(0, tailLength);
      const cut = bytes.length > HALF || total > OUTPUT_BYTES;
      return lastBytes((cut ? withoutPartialStart(bytes.subarray(-HALF)) : bytes).toString(), HALF);
    },
  };
}

/** The longest beginning of the text that fits into `max` bytes of UTF-8. */
export function firstBytes(text: string, max: number): string {
  if (Buffer.byteLength(text) <= max) return text;
  return withoutPartialEnd(Buffer.from(text).subarray(0, max)).toString();
}

function lastBytes(text: string, max: number): string {
  if (Buffer.byteLength(text) <= max) return text;
  return withoutPartialStart(Buffer.from(text).subarray(-max)).toString();
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** How many bytes the character has that begins with this byte. */
function characterLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}

function withoutPartialEnd(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start--;
  const lead = bytes[start];
  if (lead === undefined || start + characterLength(lead) <= bytes.length) return bytes;
  return bytes.subarray(0, start);
}

function withoutPartialStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start++;
  return bytes.subarray(start);
}

/** Joins as many lines as the budget allows; where some were left out, a last line says so and what to do about it. */
export function boundLines(lines: readonly string[], limit: number, advice: string): string {
  const shown: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1;
    if (shown.length === limit || bytes > OUTPUT_BYTES) break;
    shown.push(line);
  }
  if (shown.length < lines.length) shown.push(`[truncated: showing the first ${shown.length}; ${advice}]`);
  return shown.join('\n');
}
