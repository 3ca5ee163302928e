/** Reads what was picked, pasted or dropped into memory. Nothing is scaled down, and nothing leaves the page here. */
import { HEAD_BYTES, imageTypeOf, refusalOf, type Taken, textIn } from './attachments.ts';
import type { Attachment } from './draft.ts';

/** An attachment, or why there is none, in a sentence. */
export async function readFile(file: File, taken: Taken): Promise<Attachment | string> {
  const name = file.name || 'Image';
  const { size, type } = file;
  try {
    const imageType = imageTypeOf(new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer()));
    const refusal = refusalOf({ name, size, type, imageType }, taken);
    if (refusal) return refusal;
    const common = { id: newAttachmentId(), name, size };
    if (imageType !== undefined) return { ...common, kind: 'image', mimeType: imageType, data: await base64Of(file) };
    const text = textIn(new Uint8Array(await file.arrayBuffer()));
    if (text === undefined) return `${name} was not added: it is neither text nor an image.`;
    return { ...common, kind: 'text', mimeType: type || 'text/plain', text };
  } catch {
    return `${name} could not be read.`;
  }
}

/** Of this page. */
export function newAttachmentId(): number {
  lastId++;
  return lastId;
}

let lastId = 0;

/** The browser encodes it off the main thread. */
function base64Of(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^.*?,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
