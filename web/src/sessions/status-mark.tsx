/** How a Session is, as a small sign with its own shape and its name for those who do not see it; never a colour alone. */
import { CircleAlert, CircleX } from 'lucide-react';
import type { Attention } from '../state/sessions.ts';

export const ATTENTION_TEXTS: Record<Attention, string> = {
  needs_you: 'Needs you',
  running: 'Running',
  failed: 'Failed',
  unread: 'Unread',
  idle: 'Idle',
};

export function StatusMark({ attention }: { attention: Attention }) {
  return (
    <span
      className="status-mark"
      data-attention={attention}
      title={attention === 'idle' ? undefined : ATTENTION_TEXTS[attention]}
    >
      {attention === 'needs_you' && <CircleAlert size={15} aria-hidden />}
      {attention === 'failed' && <CircleX size={15} aria-hidden />}
      {attention === 'running' && <span className="spinner" />}
      {attention !== 'idle' && <span className="visually-hidden">{ATTENTION_TEXTS[attention]}:</span>}
    </span>
  );
}
