/** One row of the list. The same row is never drawn twice: everything that may change about it stands in what it is given. */
import { memo } from 'react';
import { ToolCard } from '../tools/tool-card.tsx';
import { names } from '../ui/button.tsx';
import { Failure, Message, Notice, Thought } from './message-item.tsx';
import { PromptItem } from './prompt-item.tsx';
import { isNotice, type Row } from './rows.ts';
import './items.css';

interface ItemRowProps {
  row: Row;
  /** A Turn is running; said to the rows that show it. */
  running: boolean;
  /** Its text is being written at this moment. */
  live: boolean;
}

export const ItemRow = memo(function ItemRow({ row, running, live }: ItemRowProps) {
  return (
    <div className={names('row', `row-${row.item.type}`, row.joined && 'joined')} data-row={row.key}>
      <RowContent row={row} running={running} live={live} />
    </div>
  );
});

function RowContent({ row: { item, part }, running, live }: ItemRowProps) {
  switch (item.type) {
    case 'user':
      return <PromptItem item={item} />;
    case 'thought':
      return <Thought item={item} live={live} />;
    case 'tool':
      return <ToolCard item={item} sessionRunning={running} />;
    case 'message':
      if (isNotice(item))
        return item.id.startsWith('end_') ? <Failure text={item.text} /> : <Notice text={item.text} />;
      return <Message item={item} part={part} live={live} />;
  }
}
