/**
 * Draws Markdown as elements of our own: nothing of it is ever read as HTML, and no address in it is asked for anything
 * before a person says so. A block whose text is the same is not drawn again.
 */
import { memo, useMemo, useRef } from 'react';
import remend from 'remend';
import { type Blocks, createSplitter, headingLevels, type Links, parseBlock } from './blocks.ts';
import { BlockTokens, TOP_LEVEL } from './markdown-blocks.tsx';
import './markdown.css';

interface MarkdownProps {
  text: string;
  /** It is still being written. */
  live: boolean;
}

export function Markdown({ text, live }: MarkdownProps) {
  return <MarkdownBlocks {...useBlocks(text, live)} live={live} />;
}

/**
 * The blocks of a text: while it is written from its last ones on, afterwards once more as a whole.
 *
 * @param known those of the part that is meant, where somebody has them already.
 */
export function useBlocks(text: string, live: boolean, known?: Blocks): Blocks {
  const split = useRef<ReturnType<typeof createSplitter>>(undefined);
  const isWhole = !live && known === undefined;
  const whole = useMemo(() => (isWhole ? createSplitter()(text) : undefined), [isWhole, text]);
  const there = known ?? whole;
  if (there) return there;
  split.current ??= createSplitter();
  return split.current(text);
}

export const MarkdownBlocks = memo(function MarkdownBlocks({ list, links, live }: Blocks & { live: boolean }) {
  const levels = headingLevels(list, TOP_LEVEL);
  return (
    <div className="markdown">
      {list.map(({ start, raw, type }, index) => (
        <MarkdownBlock
          key={start}
          raw={raw}
          links={links}
          level={levels.get(start) ?? TOP_LEVEL}
          live={live && index === list.length - 1}
          goesOn={type === 'list' && list[index + 1]?.type === 'list' && list[index + 1]?.start === start + raw.length}
        />
      ))}
    </div>
  );
});

interface MarkdownBlockProps {
  raw: string;
  links: Links;
  /** Of a heading. */
  level: number;
  live: boolean;
  /** A long list is drawn in several. */
  goesOn: boolean;
}

const MarkdownBlock = memo(function MarkdownBlock({ raw, links, level, live, goesOn }: MarkdownBlockProps) {
  const text = live ? remend(raw, { linkMode: 'text-only' }) : raw;
  const tokens = useMemo(() => parseBlock(text, links), [text, links]);
  const drawn = <BlockTokens tokens={tokens} live={live} level={level} />;
  return goesOn ? <div className="markdown-goes-on">{drawn}</div> : drawn;
});
