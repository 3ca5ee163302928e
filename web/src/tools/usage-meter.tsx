/** How much of the model's context is used: a ring and two numbers. Where nothing was said of it, it draws nothing. */
import { TriangleAlert } from 'lucide-react';
import { names } from '../ui/button.tsx';
import { tokensText } from './words.ts';
import './usage-meter.css';

interface UsageMeterProps {
  usage: { used: number; size: number } | null;
}

const NEARLY_FULL = 0.8;
const RADIUS = 6;
const ROUND = 2 * Math.PI * RADIUS;

export function UsageMeter({ usage }: UsageMeterProps) {
  if (!usage || usage.size <= 0) return null;
  const part = Math.min(1, usage.used / usage.size);
  const isNearlyFull = part >= NEARLY_FULL;
  const exact = `Context: ${usage.used.toLocaleString('en')} of ${usage.size.toLocaleString('en')} tokens, ${Math.round(part * 100)} %`;
  return (
    <span className={names('usage-meter', isNearlyFull && 'usage-nearly-full')} title={exact}>
      <span className="visually-hidden">{isNearlyFull ? `${exact}: nearly full` : exact}</span>
      {isNearlyFull ? <TriangleAlert size={14} aria-hidden /> : <Ring part={part} />}
      <span aria-hidden>
        {tokensText(usage.used)} of {tokensText(usage.size)}
      </span>
    </span>
  );
}

function Ring({ part }: { part: number }) {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <circle className="usage-track" cx="8" cy="8" r={RADIUS} />
      <circle className="usage-part" cx="8" cy="8" r={RADIUS} strokeDasharray={`${part * ROUND} ${ROUND}`} />
    </svg>
  );
}
