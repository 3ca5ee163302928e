/** Copies a text, and says for a moment that it did. Where the browser does not allow it, it says that. */
import { Check, Copy, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { announce } from './announce.ts';
import { IconButton } from './button.tsx';
import { copyText } from './copy.ts';

const SAID_MS = 1_500;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready');
  useEffect(() => {
    if (state === 'ready') return;
    const timer = setTimeout(() => setState('ready'), SAID_MS);
    return () => clearTimeout(timer);
  }, [state]);

  const said = { ready: label, copied: 'Copied', failed: 'This browser did not copy it' };
  const say = (next: 'copied' | 'failed') => {
    setState(next);
    announce(said[next]);
  };
  const copy = () => {
    copyText(text).then(
      () => say('copied'),
      () => say('failed'),
    );
  };
  const icon = { ready: Copy, copied: Check, failed: X }[state];
  return <IconButton icon={icon} label={said[state]} small onClick={copy} />;
}
