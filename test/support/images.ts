/** Images that are as small as their type allows, and blocks of a prompt that carry bytes. */

/** The beginning of a PNG, and whatever shall make it another one. */
export function png(more: string | number = ''): Uint8Array {
  const rest = typeof more === 'number' ? Buffer.alloc(more, 7) : Buffer.from(more);
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), rest]);
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

export function imageBlock(bytes: Uint8Array, mimeType = 'image/png') {
  return { type: 'image', data: base64(bytes), mimeType };
}
