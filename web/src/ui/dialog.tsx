/** A modal dialog: the browser's own, which keeps the focus inside, gives it back, and closes with Escape. */
import { X } from 'lucide-react';
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { IconButton, names } from './button.tsx';

interface DialogProps {
  title: string;
  onClose(): void;
  children: ReactNode;
  foot?: ReactNode;
  className?: string;
}

/** Open for as long as it is drawn. */
export function Dialog({ title, onClose, children, foot, className }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // Closed before it is taken away, so that the focus goes back to where it was.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click on the backdrop; Escape is the browser's own.
    <dialog
      ref={element}
      className={names('dialog', className)}
      aria-labelledby={titleId}
      onClose={() => element.current?.open === false && onClose()}
      onClick={(event) => event.target === element.current && element.current?.close()}
    >
      <div className="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <IconButton icon={X} label="Close" small onClick={() => element.current?.close()} />
      </div>
      <div className="dialog-body">{children}</div>
      {foot && <div className="dialog-foot">{foot}</div>}
    </dialog>
  );
}
