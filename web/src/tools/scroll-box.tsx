/** Code in a box of its own that scrolls, by keyboard, too. */
import type { ComponentProps } from 'react';

export function ScrollBox({ label, ...props }: ComponentProps<'pre'> & { label: string }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields, and a section would be one landmark more.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <pre role="group" aria-label={label} tabIndex={0} {...props} />
  );
}
