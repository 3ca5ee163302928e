/** The text that a person puts into a bug report. Without their word it has no content of theirs in it. */
import type { Frame } from '../server/frames.ts';
import { redactedFrame } from './redact.ts';

export interface ReportOf {
  /** What there is to say in front, a line each. */
  facts: readonly (readonly [string, string])[];
  frames: readonly Frame[];
  withContents: boolean;
}

const FRAMES = 50;
const ARROWS: Record<Frame['direction'], string> = { in: '<-', out: '->', opened: '==', closed: '==' };

export function reportText({ facts, frames, withContents }: ReportOf): string {
  const last = frames.slice(-FRAMES);
  const about = facts.map(([name, value]) => `${name}: ${value}`);
  const lines = last.map((frame) => {
    const { at, direction, size } = frame;
    const what = direction === 'in' || direction === 'out' ? `${size}` : direction;
    const content = withContents ? frame.text : redactedFrame(frame);
    return `${new Date(at).toISOString()} ${ARROWS[direction]} ${what} ${content}`;
  });
  const note = withContents ? 'with contents' : 'contents replaced by their lengths';
  return [...about, '', `The last ${last.length} frames, ${note}:`, ...lines, ''].join('\n');
}
