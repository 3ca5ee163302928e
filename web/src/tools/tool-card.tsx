/**
 * One tool call: a calm line that says what was done and how it ended, and opens to everything that is known of it. What
 * models and tools wrote is only ever text.
 */
import { ChevronRight } from 'lucide-react';
import { memo, useId } from 'react';
import type { Item } from '../state/items.ts';
import { nothingYet } from '../state/session-view.ts';
import { createStore, useStore } from '../state/store.ts';
import { names } from '../ui/button.tsx';
import { type CallState, callState, changedLines, diffsOf, endTexts, metaOf } from './call-state.ts';
import { useRemembered, useShownSession } from './card-memory.ts';
import { useNow } from './clock.ts';
import { DiffCounts } from './diff-counts.tsx';
import { LiveTail, liveTextOf } from './live-tail.tsx';
import { summaryOf } from './summary.ts';
import { ToolBody } from './tool-body.tsx';
import { KindIcon, StateMark } from './tool-icons.tsx';
import { elapsedText } from './words.ts';
import './tools.css';

interface ToolCardProps {
  item: Extract<Item, { type: 'tool' }>;
  sessionRunning: boolean;
}

/** A change of so many lines is shown without being asked for. */
const SMALL_CHANGE = 40;
const nowhere = createStore(nothingYet(''));

export const ToolCard = memo(function ToolCard({ item, sessionRunning }: ToolCardProps) {
  const { id, call } = item;
  const session = useShownSession();
  const view = session?.view ?? nowhere;
  const cwd = useStore(view, (now) => now.cwd);
  const asked = useStore(view, ({ permissions }) =>
    permissions.some(({ request }) => request.toolCall.toolCallId === id),
  );
  const state = callState(call, { sessionRunning, asked });
  const diffs = diffsOf(call);
  const changed = diffs.length > 0 ? changedLines(diffs) : undefined;
  const isSmall = changed !== undefined && changed.added + changed.removed <= SMALL_CHANGE;
  const [isOpen = isSmall, setOpen] = useRemembered<boolean>(session, `${id} open`);
  const bodyId = useId();
  const { tool, detail, isCode } = summaryOf(call, cwd);

  return (
    <div className={names('tool-card', isOpen && 'tool-open')}>
      <button
        type="button"
        className="tool-head"
        aria-expanded={isOpen}
        aria-controls={isOpen ? bodyId : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <KindIcon kind={call.kind} />
        <span className="tool-name">{tool}</span>
        <span className={names('tool-detail', isCode && 'tool-code-text')}>{detail}</span>
        {changed && <DiffCounts {...changed} />}
        <Facts call={call} state={state} />
        <StateMark state={state} />
        <ChevronRight size={15} className="tool-chevron" aria-hidden />
      </button>
      {isOpen && <ToolBody id={bodyId} item={item} state={state} session={session} cwd={cwd} />}
      {state === 'running' && <LiveTail text={liveTextOf(call)} />}
    </div>
  );
});

function Facts({ call, state }: { call: ToolCardProps['item']['call']; state: CallState }) {
  if (state === 'running') return <Elapsed since={metaOf(call).at} />;
  if (state === 'waiting') return <span className="tool-fact tool-fact-warn">waits for you</span>;
  return endTexts(call, state).map((text, index) => (
    <span key={text} className={names('tool-fact', state === 'failed' && index === 0 && 'tool-fact-bad')}>
      {text}
    </span>
  ));
}

/** By this computer's clock: where it goes wrong, it says nothing rather than a negative time. */
function Elapsed({ since }: { since: string | undefined }) {
  const elapsed = useNow() - Date.parse(since ?? '');
  return elapsed >= 1_000 ? <span className="tool-fact">{elapsedText(elapsed)}</span> : null;
}
