/** One line of code in its colours. Without any it is plain text. */
import { memo } from 'react';
import type { CodeLine as Line } from './highlight.ts';
import './code.css';

export const CodeLine = memo(function CodeLine({ line }: { line: Line }) {
  return line.map(({ text, kind }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line never move.
    <span key={index} className={kind && `code-${kind}`}>
      {text}
    </span>
  ));
});
