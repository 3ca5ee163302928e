/** A table in a box of its own, which scrolls sideways. A long one shows its first rows, and more when it is asked. */
import type { Tokens } from 'marked';
import { useState } from 'react';
import { InlineTokens } from './markdown-inline.tsx';

const STEP = 200;

export function Table({ token: { header, rows } }: { token: Tokens.Table }) {
  const [most, setMost] = useState(STEP);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <figure className="markdown-table" tabIndex={0} aria-label="Table">
        <table>
          <thead>
            <Cells cells={header} />
          </thead>
          <tbody>
            {rows.slice(0, most).map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name.
              <Cells key={index} cells={row} />
            ))}
          </tbody>
        </table>
      </figure>
      {rows.length > most && (
        <button type="button" className="markdown-more" onClick={() => setMost(most + STEP)}>
          Show more of {rows.length.toLocaleString()} rows
        </button>
      )}
    </>
  );
}

function Cells({ cells }: { cells: readonly Tokens.TableCell[] }) {
  return (
    <tr>
      {cells.map(({ header, align, tokens }, index) => {
        const Cell = header ? 'th' : 'td';
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other name.
          <Cell key={index} {...(header && { scope: 'col' })} data-align={align}>
            <InlineTokens tokens={tokens} />
          </Cell>
        );
      })}
    </tr>
  );
}
