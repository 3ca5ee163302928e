/** What the Session lets a person choose, in the server's order. What is shown is what the server says, or what is on its way there. */
import { Brain, Cpu, Eye, Hammer, ListChecks, type LucideIcon, ShieldCheck, Zap } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { OpenSession } from '../state/open-session.ts';
import { useStore } from '../state/store.ts';
import { Button, names } from '../ui/button.tsx';
import { Menu } from '../ui/menu.tsx';
import { type Picker, pickerOf } from './options.ts';

export function Pickers({ session, onError }: { session: OpenSession; onError(message: string): void }) {
  const options = useStore(session.view, (view) => view.options);
  return (
    <div className="pickers">
      {options.map((option) => (
        <OptionPicker key={option.id} picker={pickerOf(option)} session={session} onError={onError} />
      ))}
    </div>
  );
}

interface PickerProps {
  picker: Picker;
  session: OpenSession;
  onError(message: string): void;
}

function OptionPicker({ picker, session, onError }: PickerProps) {
  const [chosen, choose] = useChoice(picker, session, onError);
  const { id, name, description, value, current, choices } = picker;
  const shown = choices.find((choice) => choice.value === chosen)?.name ?? current;
  const isPending = chosen !== undefined;
  const Icon = iconOf(id, chosen ?? value);
  const isKnown = Icon !== undefined;

  return (
    <Menu
      label={name}
      items={choices.map((choice) => ({
        label: choice.name,
        note: choice.note,
        checked: choice.value === (chosen ?? value),
        onSelect: () => choose(choice.value),
      }))}
      trigger={(props) => (
        <Button
          {...props}
          look="quiet"
          small
          className={names(
            'picker',
            id === EFFORT && 'effort',
            TERSE.has(id) && 'terse',
            isUnasked(id, chosen ?? value) && 'unasked',
          )}
          aria-label={`${name}: ${shown}`}
          aria-busy={isPending}
          title={description ? `${name}: ${description}` : name}
        >
          {isPending ? <span className="spinner" aria-hidden /> : Icon && <Icon size={14} aria-hidden />}
          <span className="picker-value">{isKnown ? shown : `${name}: ${shown}`}</span>
        </Button>
      )}
    />
  );
}

/** What was chosen here and is not the server's yet. It is taken back where the server refuses. */
function useChoice(
  { id, name, value }: Picker,
  session: OpenSession,
  onError: (message: string) => void,
): [string | undefined, (next: string) => void] {
  const [chosen, setChosen] = useState<string>();
  useEffect(() => {
    if (value === chosen) setChosen(undefined);
  }, [value, chosen]);

  async function set(next: string): Promise<void> {
    setChosen(next);
    try {
      await session.setOption(id, next);
      // The update came before the answer, but is drawn with the next frame. Where there was none, the server decided.
      setTimeout(setChosen, SETTLED_MS, undefined);
    } catch (error) {
      setChosen(undefined);
      onError(`${name} was not changed: ${error instanceof Error ? error.message : 'the server refused it'}.`);
    }
  }
  return [chosen, (next) => next !== value && void set(next)];
}

const SETTLED_MS = 300;

/** Its values are words without a capital, unlike the names beside them. */
const EFFORT = 'reasoning_effort';

/** An icon is enough where there is little room. */
const TERSE = new Set(['model', EFFORT]);

const ICONS: Record<string, LucideIcon | Record<string, LucideIcon>> = {
  mode: { build: Hammer, plan: ListChecks },
  model: Cpu,
  [EFFORT]: Brain,
  permission_mode: { auto: Zap, ask: ShieldCheck, read_only: Eye },
};

function iconOf(id: string, value: string): LucideIcon | undefined {
  const icon = Object.hasOwn(ICONS, id) ? ICONS[id] : undefined;
  if (icon === undefined || isIcon(icon)) return icon;
  return Object.hasOwn(icon, value) ? icon[value] : undefined;
}

function isIcon(icon: LucideIcon | Record<string, LucideIcon>): icon is LucideIcon {
  return '$$typeof' in icon;
}

/** It changes files and runs commands without asking anybody. */
function isUnasked(id: string, value: string): boolean {
  return id === 'permission_mode' && value === 'auto';
}
