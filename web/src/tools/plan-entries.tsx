/** The steps of a plan, each with how it stands, in words and in a picture. */
import { Circle, CircleCheck, CircleDotDashed, type LucideIcon } from 'lucide-react';
import { names } from '../ui/button.tsx';
import { visible } from './plain-text.ts';
import './plan-entries.css';

interface PlanStep {
  content: string;
  status: string;
  priority?: string | undefined;
}

const TO_DO = { icon: Circle, words: 'to do' };
const STATUS: Record<string, { icon: LucideIcon; words: string }> = {
  pending: TO_DO,
  in_progress: { icon: CircleDotDashed, words: 'in progress' },
  completed: { icon: CircleCheck, words: 'done' },
};

export function PlanEntries({ entries }: { entries: readonly PlanStep[] }) {
  return (
    <ol className="plan-entries">
      {entries.map((entry, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a plan always comes whole, in its order.
        <PlanEntry key={index} {...entry} />
      ))}
    </ol>
  );
}

function PlanEntry({ content, status, priority }: PlanStep) {
  const { icon: Icon, words } = STATUS[status] ?? TO_DO;
  return (
    <li className={names('plan-entry', `plan-${status}`)}>
      <Icon size={16} aria-hidden />
      <span>
        {visible(content)}
        <span className="visually-hidden">, {words}</span>
        {status === 'in_progress' && (
          <span className="plan-entry-note" aria-hidden>
            {words}
          </span>
        )}
        {priority === 'high' && status !== 'completed' && <span className="plan-entry-note">high priority</span>}
      </span>
    </li>
  );
}
