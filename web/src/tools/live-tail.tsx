/** The end of what a running tool has written so far. It stays at its end until the person scrolls up. */
import type { ToolCall } from '@agentclientprotocol/sdk';
import { useLayoutEffect, useRef } from 'react';
import { plainOutput, tailOf } from './plain-text.ts';
import { ScrollBox } from './scroll-box.tsx';
import './tool-body.css';

const LINES = 30;
const CHARACTERS = 6_000;
/** So near to its end it is at its end. */
const NEAR = 24;

/** All that has been heard of its output. */
export function liveTextOf({ content }: Partial<ToolCall>): string {
  return (content ?? [])
    .map((part) => (part.type === 'content' && part.content.type === 'text' ? part.content.text : ''))
    .join('\n');
}

export function LiveTail({ text }: { text: string }) {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  const tail = plainOutput(tailOf(text, LINES, CHARACTERS)).trimEnd();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a longer text moves the end.
  useLayoutEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [tail]);

  if (tail === '') return null;
  return (
    <ScrollBox
      ref={box}
      className="tool-tail"
      label="Output so far"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR;
      }}
    >
      {tail}
    </ScrollBox>
  );
}
