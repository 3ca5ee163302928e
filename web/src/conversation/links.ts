/** Which addresses of a text may be opened, and how. Anything that is not plainly a page or a mail address is text. */

const ALLOWED = new Set(['http:', 'https:', 'mailto:']);

/** The address as it may be opened; undefined: never. */
export function safeHref(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return ALLOWED.has(protocol) ? href : undefined;
}

/** An image's address for a person to decide on: where it is, in short. */
export function hostOf(address: string): string | undefined {
  const href = safeHref(address);
  return href === undefined ? undefined : new URL(href).host;
}

/** Pictures that came inside of the text, as bytes: no address is asked for them. */
export function isInlineImage(address: string): boolean {
  return /^data:image\/(png|jpeg|gif|webp|avif);base64,[a-z0-9+/=\s]*$/i.test(address);
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** Marked leaves the entities of a text to the browser, which does not read ours as HTML. */
export function withoutEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name as string] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}
