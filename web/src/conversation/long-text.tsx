/** Text of any length: only so much of it is drawn at first, and more when it is asked for, so that no text can stop the page. */
import { useState } from 'react';

const STEP = 20_000;

export function LongText({ text }: { text: string }) {
  const [shown, setShown] = useState(STEP);
  if (text.length <= shown) return text;
  return (
    <>
      {text.slice(0, shown)}…{' '}
      <button type="button" className="markdown-more" onClick={() => setShown(shown + STEP)}>
        Show more ({(text.length - shown).toLocaleString()} characters)
      </button>
    </>
  );
}
