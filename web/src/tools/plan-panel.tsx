/** Beside the conversation: the plan of the agent, how full its context is, and the decisions that are remembered. */
import { X } from 'lucide-react';
import type { KeyboardEvent } from 'react';
import type { OpenSession } from '../state/open-session.ts';
import { show } from '../state/shell.ts';
import { useStore } from '../state/store.ts';
import { IconButton } from '../ui/button.tsx';
import { PlanEntries } from './plan-entries.tsx';
import { RememberedDecisions } from './remembered-decisions.tsx';
import { UsageMeter } from './usage-meter.tsx';
import './plan-panel.css';

const close = () => show({ panel: 'none' });

export function PlanPanel({ session }: { session: OpenSession }) {
  const plan = useStore(session.view, (view) => view.plan);
  const usage = useStore(session.view, (view) => view.usage);
  const done = plan.filter(({ status }) => status === 'completed').length;
  return (
    <aside className="panel" aria-label="Plan" onKeyDown={closeByEscape}>
      <div className="panel-head">
        <h2>Plan</h2>
        <IconButton icon={X} label="Close the plan" small onClick={close} />
      </div>
      <div className="panel-body plan-panel">
        {plan.length === 0 ? (
          <p className="plan-empty">No plan yet. For work of several steps the agent writes one here.</p>
        ) : (
          <>
            <div className="plan-progress">
              <progress value={done} max={plan.length} aria-label="Steps done" />
              <span>
                {done} of {plan.length} done
              </span>
            </div>
            <PlanEntries entries={plan} />
          </>
        )}
        <section className="plan-section">
          <h3>Context</h3>
          {usage ? <UsageMeter usage={usage} /> : <p className="plan-empty">Not known yet.</p>}
        </section>
        <RememberedDecisions session={session} />
      </div>
    </aside>
  );
}

function closeByEscape(event: KeyboardEvent): void {
  if (event.key === 'Escape') close();
}
