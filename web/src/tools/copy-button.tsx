/** Copies a text, and says for a moment that it did. Where the browser does not allow it, it says that. */
import { Check, Copy, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { copyText } from '../conversation/copy.ts';
import { announce } from '../ui/announce.ts';
import { IconButton } from '../ui/button.tsx';

const SHOWN_MS = 1_500;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [state, setState] = useState<'ready' | 'done' | 'failed'>('ready');
  useEffect(() => {
    if (state === 'ready') return;
    const timer = setTimeout(() => setState('ready'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state]);

  async function copy(): Promise<void> {
    const done = await copyText(text).then(
      () => true,
      () => false,
    );
    setState(done ? 'done' : 'failed');
    announce(done ? 'Copied' : 'This browser did not copy it');
  }

  const icon = { ready: Copy, done: Check, failed: X }[state];
  return <IconButton icon={icon} label={label} small onClick={() => void copy()} />;
}
