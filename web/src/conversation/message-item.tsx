/** What the agent says: messages, thoughts, the failure of a Turn and what the runtime has to say of itself. */
import { CircleAlert, FoldVertical } from 'lucide-react';
import { useState } from 'react';
import type { Item } from '../state/items.ts';
import { names } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { LongText } from './long-text.tsx';
import { Markdown, MarkdownBlocks, useBlocks } from './markdown.tsx';
import type { Part } from './rows.ts';

type TextItem = Extract<Item, { type: 'message' | 'thought' }>;

interface MessageProps {
  item: TextItem;
  part: Part | undefined;
  live: boolean;
}

export function Message({ item, part, live }: MessageProps) {
  const isEnd = part?.isLast ?? true;
  const { list, links } = useBlocks(item.text, live, part);
  return (
    <article className="message" aria-label="Agent">
      <MarkdownBlocks list={list} links={links} live={live && isEnd} />
      {isEnd && !live && (
        <div className="message-tools">
          <CopyButton text={item.text} label="Copy message as Markdown" />
        </div>
      )}
    </article>
  );
}

/** Open by the person's choice, also after it has left the screen and come back. */
const openThoughts = new Set<string>();

export function Thought({ item: { id, text }, live }: { item: TextItem; live: boolean }) {
  const [isOpen, setOpen] = useState(openThoughts.has(id));
  return (
    <details
      className="thought"
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => {
        setOpen(open);
        if (open) openThoughts.add(id);
        else openThoughts.delete(id);
      }}
    >
      <summary>
        <span className={names('thought-name', live && 'live')}>{live ? 'Thinking' : 'Thought'}</span>
        {!isOpen && <span className="thought-line">{firstLine(text)}</span>}
      </summary>
      {isOpen && <Markdown text={text} live={live} />}
    </details>
  );
}

function firstLine(text: string): string {
  const line = /\S[^\n]*/.exec(text.slice(0, 2_000))?.[0] ?? '';
  return line.replace(/[*_`#]+/g, '').slice(0, 200);
}

export function Failure({ text }: { text: string }) {
  return (
    <div className="failure">
      <CircleAlert size={17} aria-hidden />
      <div>
        <strong>The Turn failed</strong>
        <p>
          <LongText text={text} />
        </p>
      </div>
    </div>
  );
}

export function Notice({ text }: { text: string }) {
  return (
    <div className="notice">
      <FoldVertical size={14} aria-hidden />
      <span>{text}</span>
    </div>
  );
}
