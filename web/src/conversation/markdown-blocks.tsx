/** Paragraphs, lists, tables and the like, from tokens. What we do not know is shown as the text that it is. */
import type { Token, Tokens } from 'marked';
import { CodeBlock } from './code-block.tsx';
import { LongText } from './long-text.tsx';
import { InlineTokens } from './markdown-inline.tsx';
import { Table } from './markdown-table.tsx';

/** The page has the first two levels of headings itself. */
export const TOP_LEVEL = 3;

interface BlockTokensProps {
  tokens: readonly Token[];
  live: boolean;
  /** Of headings. */
  level?: number;
}

export function BlockTokens({ tokens, live, level = TOP_LEVEL }: BlockTokensProps) {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no other name, and only the last ones change.
    <BlockToken key={index} token={token} live={live && index === tokens.length - 1} level={level} />
  ));
}

function BlockToken({ token, live, level }: { token: Token; live: boolean; level: number }) {
  // Marked's types are open for extensions, of which there are none here.
  const known = token as Tokens.Generic as Known;
  switch (known.type) {
    case 'space':
    case 'def':
      return null;
    case 'paragraph':
      return (
        <p>
          <InlineTokens tokens={known.tokens} />
        </p>
      );
    case 'heading':
      return <Heading level={level} depth={known.depth} tokens={known.tokens} />;
    case 'code':
      return <CodeBlock code={known.text} lang={langOf(known.lang)} live={live && !isClosed(known.raw)} />;
    case 'blockquote':
      return (
        <blockquote>
          <BlockTokens tokens={known.tokens} live={live} />
        </blockquote>
      );
    case 'list':
      return <List token={known} live={live} />;
    case 'table':
      return <Table token={known} />;
    case 'hr':
      return <hr />;
    case 'checkbox':
      return <Task isDone={known.checked} />;
    case 'text':
      return known.tokens ? <InlineTokens tokens={known.tokens} /> : <LongText text={known.text} />;
    case 'html':
      return (
        <p className="markdown-raw">
          <LongText text={known.raw.trimEnd()} />
        </p>
      );
    default:
      return <InlineTokens tokens={[token]} />;
  }
}

type Known =
  | Tokens.Space
  | Tokens.Def
  | Tokens.Paragraph
  | Tokens.Heading
  | Tokens.Code
  | Tokens.Blockquote
  | Tokens.List
  | Tokens.Table
  | Tokens.Hr
  | Tokens.Checkbox
  | Tokens.Text
  | Tokens.HTML;

function Heading({ level, depth, tokens }: { level: number; depth: number; tokens: Token[] }) {
  const Level = `h${level}` as 'h3' | 'h4' | 'h5' | 'h6';
  return (
    <Level className={`markdown-h${depth}`}>
      <InlineTokens tokens={tokens} />
    </Level>
  );
}

function List({ token, live }: { token: Tokens.List; live: boolean }) {
  const items = token.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items have no other name.
    <li key={index} className={item.task ? 'markdown-task' : undefined}>
      <BlockTokens tokens={item.tokens} live={live && index === token.items.length - 1} />
    </li>
  ));
  if (!token.ordered) return <ul>{items}</ul>;
  return <ol {...(token.start !== '' && token.start !== 1 && { start: token.start })}>{items}</ol>;
}

function Task({ isDone }: { isDone: boolean }) {
  return <input type="checkbox" checked={isDone} disabled aria-label={isDone ? 'Done' : 'Not done'} />;
}

/** The first word after the backticks. */
function langOf(info: string | undefined): string {
  return info?.trim().split(/[\s{,:]/)[0] ?? '';
}

/** A fence's end has been written. */
function isClosed(raw: string): boolean {
  return /\n {0,3}(`{3,}|~{3,})\s*$/.test(raw.slice(-200));
}
