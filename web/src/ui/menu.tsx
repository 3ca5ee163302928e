/** A menu on a button: in the top layer, closed by Escape or a click elsewhere, walked with the arrow keys. */
import { Check } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { names } from './button.tsx';

export interface MenuItem {
  label: string;
  note?: string | undefined;
  icon?: ReactNode;
  danger?: boolean;
  disabled?: boolean;
  /** For one of several to choose from. */
  checked?: boolean;
  onSelect(): void;
}

interface MenuProps {
  /** Draws the button; it must take all of these. */
  trigger(props: TriggerProps): ReactNode;
  items: readonly MenuItem[];
  label: string;
}

interface TriggerProps {
  'aria-haspopup': 'menu';
  'aria-expanded': boolean;
  popoverTarget: string;
}

const GAP = 4;
const EDGE = 8;

export function Menu({ trigger, items, label }: MenuProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const popup = useRef<HTMLDivElement>(null);
  const anchor = useRef<HTMLSpanElement>(null);

  useLayoutEffect(() => {
    const button = anchor.current?.firstElementChild;
    if (!isOpen || !popup.current || !button) return;
    place(popup.current, button.getBoundingClientRect());
    itemsOf(popup.current)[0]?.focus();
  }, [isOpen]);

  return (
    <span ref={anchor} className="menu-anchor">
      {trigger({ 'aria-haspopup': 'menu', 'aria-expanded': isOpen, popoverTarget: id })}
      <div
        ref={popup}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={label}
        className="menu"
        onToggle={(event) => setOpen(event.newState === 'open')}
        onKeyDown={walk}
      >
        {isOpen && items.map((item) => <Item key={item.label} {...item} close={() => popup.current?.hidePopover()} />)}
      </div>
    </span>
  );
}

function Item({ label, note, icon, danger, disabled, checked, onSelect, close }: MenuItem & { close(): void }) {
  return (
    <button
      type="button"
      role={checked === undefined ? 'menuitem' : 'menuitemradio'}
      {...(checked !== undefined && { 'aria-checked': checked })}
      className={names('menu-item', danger && 'danger')}
      disabled={disabled}
      tabIndex={-1}
      onClick={() => {
        close();
        onSelect();
      }}
    >
      {icon}
      <span>
        {label}
        {note && <span className="menu-note">{note}</span>}
      </span>
      {checked && <Check size={15} className="menu-check" aria-hidden />}
    </button>
  );
}

/** Below the button, or above it where there is no room; inside the window in any case. */
function place(popup: HTMLElement, at: DOMRect): void {
  const { width, height } = popup.getBoundingClientRect();
  const below = at.bottom + GAP + height + EDGE <= innerHeight || at.top < height;
  const top = below ? at.bottom + GAP : at.top - GAP - height;
  const left = at.left + width + EDGE <= innerWidth ? at.left : at.right - width;
  popup.style.top = `${Math.max(EDGE, Math.min(top, innerHeight - height - EDGE))}px`;
  popup.style.left = `${Math.max(EDGE, left)}px`;
}

function walk(event: KeyboardEvent<HTMLElement>): void {
  const all = itemsOf(event.currentTarget);
  const now = all.indexOf(document.activeElement as HTMLElement);
  const steps: Record<string, number> = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: all.length - 1 };
  const next = steps[event.key];
  if (next !== undefined) {
    event.preventDefault();
    all.at(next % all.length)?.focus();
  } else if (event.key === 'Tab') {
    event.currentTarget.hidePopover();
  }
}

function itemsOf(popup: HTMLElement): HTMLElement[] {
  return [...popup.querySelectorAll<HTMLElement>('.menu-item:not(:disabled)')];
}
