/** The way through a long conversation: to its end, where there may be something new, and from prompt to prompt. */
import { ArrowDown, ChevronDown, ChevronUp } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { Item } from '../state/items.ts';
import { Button, IconButton } from '../ui/button.tsx';

interface ListNavigationProps {
  items: readonly Item[];
  isAtEnd: boolean;
  toEnd(): void;
  toPrompt(step: -1 | 1): void;
}

export function ListNavigation({ items, isAtEnd, toEnd, toPrompt }: ListNavigationProps) {
  const last = items.at(-1);
  const [seen, setSeen] = useState<Item>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what stood last when the person left.
  useEffect(() => setSeen(isAtEnd ? undefined : last), [isAtEnd]);
  if (isAtEnd) return null;
  const isNew = seen !== undefined && seen !== last;
  return (
    <div className="list-navigation">
      <IconButton icon={ChevronUp} label="Previous prompt ([)" small onClick={() => toPrompt(-1)} />
      <IconButton icon={ChevronDown} label="Next prompt (])" small onClick={() => toPrompt(1)} />
      <Button small look={isNew ? 'primary' : 'quiet'} onClick={toEnd}>
        {isNew ? 'New messages' : 'To the end'}
        <ArrowDown size={14} aria-hidden />
      </Button>
    </div>
  );
}
