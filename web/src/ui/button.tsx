/** Buttons. One that shows only an icon has its name for screen readers and as its tooltip. */
import type { LucideIcon } from 'lucide-react';
import type { ComponentProps } from 'react';
import './ui.css';

interface Look {
  look?: 'primary' | 'danger' | 'quiet' | undefined;
  small?: boolean | undefined;
}

export function Button({ look, small, className, ...props }: ComponentProps<'button'> & Look) {
  return <button type="button" {...props} className={names('button', look, small && 'small', className)} />;
}

export function IconButton({
  icon: Icon,
  label,
  look = 'quiet',
  small,
  className,
  ...props
}: Omit<ComponentProps<'button'>, 'children'> & Look & { icon: LucideIcon; label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...props}
      className={names('button', 'icon', look, small && 'small', className)}
    >
      <Icon size={small ? 15 : 17} aria-hidden />
    </button>
  );
}

/** Class names, without those that do not apply. */
export function names(...all: (string | false | undefined)[]): string {
  return all.filter(Boolean).join(' ');
}
