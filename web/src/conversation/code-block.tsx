/**
 * Code: its language, a copy of it, and the code, in colours as soon as they are known. While it is written it stays plain
 * and shows its end; a long one shows its beginning afterwards, in the same height.
 */
import { WrapText } from 'lucide-react';
import { memo, useEffect, useState } from 'react';
import { IconButton, names } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { CodeLine } from './code-line.tsx';
import { highlight, highlighted, type CodeLine as Line } from './highlight.ts';
import './code.css';

interface CodeBlockProps {
  code: string;
  /** As it was written after the backticks; empty: none was. */
  lang: string;
  live?: boolean;
}

const FOLDED = 40;
/** Lines of one press of "Show": as many as can be drawn at once. */
const STEP = 1_000;
/** Characters of a line that are drawn; all of them are copied. */
const LONGEST_LINE = 5_000;

export const CodeBlock = memo(function CodeBlock({ code, lang, live = false }: CodeBlockProps) {
  const [most, setMost] = useState(FOLDED);
  const [wrap, setWrap] = useState(false);
  const lines = code.split('\n');
  const isFolded = lines.length > most + (most === FOLDED ? FOLDED / 8 : 0);
  const from = live && isFolded ? lines.length - most : 0;
  const shown = isFolded ? lines.slice(from, from + most) : lines;

  return (
    <figure className={names('code-block', wrap && 'wrap')} aria-label={lang === '' ? 'Code' : `Code: ${lang}`}>
      <figcaption className="code-head">
        <span className="code-lang">{lang || 'text'}</span>
        <IconButton
          icon={WrapText}
          label="Wrap lines"
          small
          aria-pressed={wrap}
          className={names(wrap && 'pressed')}
          onClick={() => setWrap(!wrap)}
        />
        <CopyButton text={code} label="Copy code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <pre className="code-body" tabIndex={0}>
        <Lines shown={shown} code={code} lang={lang} plain={live} />
      </pre>
      {isFolded && (
        <button type="button" className="code-more" onClick={() => setMost(most === FOLDED ? STEP : most + STEP)}>
          {lines.length <= STEP
            ? `Show all ${lines.length} lines`
            : `Show more of ${lines.length.toLocaleString()} lines`}
        </button>
      )}
    </figure>
  );
});

function Lines({ shown, code, lang, plain }: { shown: readonly string[]; code: string; lang: string; plain: boolean }) {
  const coloured = useColours(code, lang, plain);
  if (!coloured) return <code>{shown.map(short).join('\n')}</code>;
  return (
    <code>
      {coloured.slice(0, shown.length).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name.
        <span key={index}>
          {(shown[index]?.length ?? 0) > LONGEST_LINE ? short(shown[index] ?? '') : <CodeLine line={line} />}
          {'\n'}
        </span>
      ))}
    </code>
  );
}

function short(line: string): string {
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
}

function useColours(code: string, lang: string, plain: boolean): readonly Line[] | undefined {
  const [found, setFound] = useState<{ code: string; lines: readonly Line[] }>();
  const known = plain || lang === '' ? undefined : highlighted(code, lang);
  useEffect(() => {
    if (plain || lang === '' || known) return;
    const stale = new AbortController();
    void highlight(code, lang, stale.signal).then((lines) => {
      if (lines && !stale.signal.aborted) setFound({ code, lines });
    });
    return () => stale.abort();
  }, [code, lang, plain, known]);
  return known ?? (found?.code === code && !plain ? found.lines : undefined);
}
