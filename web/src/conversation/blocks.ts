/**
 * Markdown in blocks: paragraphs, lists, code. A text that grows is parsed only from its last blocks on, and what is
 * finished stays the same object. Whatever the text is, it takes no more than a time in proportion to its length.
 */
import { Lexer, type Token, Tokenizer, type Tokens } from 'marked';

export interface Block {
  /** Where it begins: its name among the blocks of its message. */
  start: number;
  raw: string;
  type: string;
}

/** What `[text][name]` refers to, by name. */
export type Links = Readonly<Record<string, { href: string; title: string | undefined }>>;

export interface Blocks {
  list: readonly Block[];
  links: Links;
}

/** Quotes and lists in quotes and lists beyond this are plain text. */
const DEEPEST = 10;
/** A run of text beyond this is not looked through for emphasis and links: that takes the square of its length. */
const LONGEST_RUN = 6_000;
/** A list beyond this becomes several, each going on where the one before it ends. */
const LIST_PIECE = 4_000;

class BoundedTokenizer extends Tokenizer {
  /** A name can be `__proto__` too. */
  readonly links: Record<string, { href: string; title: string | undefined }> = Object.create(null);
  #depth = 0;
  #definitions = 0;

  override blockquote(src: string): Tokens.Blockquote | undefined {
    return this.#deeper(() => super.blockquote(src));
  }

  override list(src: string): Tokens.List | undefined {
    return this.#deeper(() => super.list(src));
  }

  /** Marked drops the text of a second definition of a name: ours all have a name of their own, and the first one counts. */
  override def(src: string): Tokens.Def | undefined {
    const token = super.def(src);
    // Marked looks for the end of a title beyond the paragraph; a quotation mark must not swallow the rest of a message.
    if (!token || /\n[ \t]*\n/.test(token.raw.trimEnd())) return undefined;
    if (!Object.hasOwn(this.links, token.tag)) this.links[token.tag] = { href: token.href, title: token.title };
    this.#definitions += 1;
    return { ...token, tag: `${token.tag}\n${this.#definitions}` };
  }

  #deeper<T>(parse: () => T): T | undefined {
    if (this.#depth >= DEEPEST) return undefined;
    this.#depth += 1;
    try {
      return parse();
    } finally {
      this.#depth -= 1;
    }
  }
}

/** @returns the blocks of a text that is, each time, the one before and more; or another one. */
export function createSplitter({ listPiece = LIST_PIECE } = {}): (text: string) => Blocks {
  let before = '';
  /** Those that nothing which follows can change; where they end; what they define. */
  let finished: readonly Block[] = [];
  let end = 0;
  let definitions: Links = {};
  let last: Blocks = { list: [], links: {} };

  return (given) => {
    const text = given.includes('\r') ? given.replace(/\r\n?/g, '\n') : given;
    if (text === before) return last;
    if (!text.startsWith(before)) {
      finished = [];
      end = 0;
      definitions = {};
    }
    before = text;

    const tail = split(text.slice(end), end, listPiece);
    const list = finished.concat(tail.list.map((block, index) => sameAs(block, last.list[finished.length + index])));
    const links = { ...tail.links, ...definitions };
    last = { list, links: isEqual(links, last.links) ? last.links : links };

    const count = settled(text, list, finished.length);
    const next = list[count];
    if (next && count > finished.length) {
      const defines = Object.keys(tail.links).length > 0;
      if (defines) definitions = { ...split(text.slice(end, next.start), end, listPiece).links, ...definitions };
      finished = list.slice(0, count);
      end = next.start;
    }
    return last;
  };
}

/**
 * @returns how many blocks nothing can change any more. The last two still may: a line that becomes an item, a title of a
 *   link; and those that stand close together may yet become one.
 */
function settled(text: string, list: readonly Block[], from: number): number {
  let count = from;
  for (let index = from; index < list.length - 2; index += 1) {
    const [block, next] = [list[index], list[index + 1]];
    if (!block || !next || !text.startsWith(block.raw, block.start)) break;
    const isApart = text.slice(next.start - 2, next.start) === '\n\n';
    const isOneList = block.type === 'list' && next.start === block.start + block.raw.length;
    if (isApart || isOneList) count = index + 1;
  }
  return count;
}

function split(text: string, offset: number, listPiece: number): Blocks {
  const tokenizer = new BoundedTokenizer();
  const lexer = new Lexer({ gfm: true, tokenizer });
  const list: Block[] = [];
  let start = offset;
  for (const token of lexer.blockTokens(text, lexer.tokens)) {
    const raws = token.type === 'list' ? pieces(token as Tokens.List, listPiece) : [token.raw];
    for (const raw of raws) {
      if (token.type !== 'space') list.push({ start, raw, type: token.type });
      start += raw.length;
    }
  }
  return { list, links: tokenizer.links };
}

function pieces({ raw, items }: Tokens.List, longest: number): string[] {
  const found = [''];
  for (const item of items) {
    const piece = found.at(-1) ?? '';
    if (piece.length >= longest) found.push(item.raw);
    else found[found.length - 1] = piece + item.raw;
  }
  return raw.startsWith(found.join(''))
    ? [...found.slice(0, -1), raw.slice(found.slice(0, -1).join('').length)]
    : [raw];
}

function sameAs(block: Block, before: Block | undefined): Block {
  const isSame = before?.start === block.start && before.type === block.type && before.raw === block.raw;
  return isSame ? before : block;
}

function isEqual(links: Links, others: Links): boolean {
  const names = Object.keys(links);
  if (names.length !== Object.keys(others).length) return false;
  return names.every((name) => links[name]?.href === others[name]?.href && links[name]?.title === others[name]?.title);
}

/**
 * @param top of a first heading, whatever depth it was written in.
 * @returns of each heading, by where it begins, its level on the page: one more than that of the heading it stands under.
 */
export function headingLevels(list: readonly Block[], top: number): ReadonlyMap<number, number> {
  const levels = new Map<number, number>();
  let above: number[] = [];
  for (const { type, raw, start } of list) {
    if (type !== 'heading') continue;
    const depth = /^ {0,3}(#+)/.exec(raw)?.[1]?.length ?? (/=\s*$/.test(raw) ? 1 : 2);
    above = [...above.filter((other) => other < depth), depth];
    levels.set(start, Math.min(top + above.length - 1, 6));
  }
  return levels;
}

/** What is in a block, ready to be drawn. */
export function parseBlock(raw: string, links: Links): Token[] {
  const lexer = new Lexer({ gfm: true, tokenizer: new BoundedTokenizer() });
  Object.assign(lexer.tokens.links, links);
  lexer.blockTokens(raw, lexer.tokens);
  for (const { src, tokens } of lexer.inlineQueue) {
    if (src.length > LONGEST_RUN) tokens.push({ type: 'text', raw: src, text: src, escaped: false });
    else lexer.inlineTokens(src, tokens);
  }
  return lexer.tokens;
}
