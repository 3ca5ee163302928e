/** What a Session lets a person choose, in a shape that one menu can show: whatever its kind, and whether it is grouped or not. */
import type { SessionConfigOption } from '@agentclientprotocol/sdk';

interface Choice {
  value: string;
  name: string;
  /** Its group, and what it is. */
  note: string | undefined;
}

export interface Picker {
  id: string;
  name: string;
  description: string | undefined;
  value: string;
  /** As it is called. */
  current: string;
  choices: Choice[];
}

export function pickerOf(option: SessionConfigOption): Picker {
  const { id, name, description } = option;
  const common = { id, name, description: description ?? undefined };
  if (option.type === 'boolean') {
    const value = String(option.currentValue);
    return { ...common, value, current: value === 'true' ? 'On' : 'Off', choices: SWITCH };
  }
  const choices = choicesOf(option.options);
  const value = option.currentValue;
  return { ...common, value, current: choices.find((choice) => choice.value === value)?.name ?? value, choices };
}

const SWITCH: Choice[] = [
  { value: 'true', name: 'On', note: undefined },
  { value: 'false', name: 'Off', note: undefined },
];

function choicesOf(options: Extract<SessionConfigOption, { type: 'select' }>['options']): Choice[] {
  return options.flatMap((option) => {
    if (!('group' in option)) return [choice(option)];
    return option.options.map((inner) => choice(inner, option.name));
  });
}

function choice(
  { value, name, description }: { value: string; name: string; description?: string | null },
  group?: string,
): Choice {
  return { value, name, note: [group, description].filter(Boolean).join(' · ') || undefined };
}
