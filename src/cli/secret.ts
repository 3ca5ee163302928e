/** A string that must never be printed by accident: logging, inspecting or serialising it shows a placeholder. */
import { inspect } from 'node:util';

export interface Secret {
  /** The only way to the value. */
  reveal(): string;
}

const PLACEHOLDER = '[secret]';

/** The value lives in a closure, where no logger, inspector or serialiser looks. */
export function secret(value: string): Secret {
  const hide = () => PLACEHOLDER;
  return Object.freeze({ reveal: () => value, toString: hide, toJSON: hide, [inspect.custom]: hide });
}
