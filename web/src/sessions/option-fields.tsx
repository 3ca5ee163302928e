/** The choices a server offers for a Session, each as the browser's own list; whatever they are, in the server's order. */
import type { SessionConfigOption } from '@agentclientprotocol/sdk';
import { useId } from 'react';
import type { Wanted } from './create.ts';

interface FieldsProps {
  options: readonly SessionConfigOption[];
  wanted: Wanted;
  onChoose(id: string, value: string): void;
}

type Select = Extract<SessionConfigOption, { type: 'select' }>;
type Choice = { value: string; name: string };

export function OptionFields({ options, wanted, onChoose }: FieldsProps) {
  return (
    <div className="option-fields">
      {options
        .filter((option): option is SessionConfigOption & Select => option.type === 'select')
        .map((option) => (
          <OptionField key={option.id} option={option} value={wanted[option.id]} onChoose={onChoose} />
        ))}
    </div>
  );
}

interface FieldProps {
  option: SessionConfigOption & Select;
  value: string | undefined;
  onChoose: FieldsProps['onChoose'];
}

function OptionField({ option, value, onChoose }: FieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id} className="field-label">
        {option.name}
      </label>
      <select
        id={id}
        className="input"
        data-option={option.id}
        value={value}
        title={option.description ?? undefined}
        onChange={(event) => onChoose(option.id, event.target.value)}
      >
        {option.options.map((one) =>
          'options' in one ? (
            <optgroup key={one.group} label={one.name}>
              {one.options.map(toOption)}
            </optgroup>
          ) : (
            toOption(one)
          ),
        )}
      </select>
    </div>
  );
}

function toOption({ value, name }: Choice) {
  return (
    <option key={value} value={value}>
      {name}
    </option>
  );
}
