/** Short messages that belong to no place on the page, mostly of what could not be done. One that failed stays until it is closed. */
import { CircleAlert, X } from 'lucide-react';
import { useEffect } from 'react';
import { createStore, useStore } from '../state/store.ts';
import { IconButton, names } from './button.tsx';
import './toast.css';

interface Toast {
  id: number;
  text: string;
  failed: boolean;
}

const MOST = 3;
const SHOWN_MS = 4_000;

const toasts = createStore<readonly Toast[]>([]);
let lastId = 0;

export function toast(text: string, { failed = false } = {}): void {
  lastId++;
  const others = toasts.get().filter((other) => other.text !== text);
  toasts.set([...others.slice(1 - MOST), { id: lastId, text, failed }]);
}

function dismiss(id: number): void {
  toasts.set(toasts.get().filter((other) => other.id !== id));
}

export function Toasts() {
  return (
    <div className="toasts">
      {useStore(toasts).map((one) => (
        <ToastLine key={one.id} {...one} />
      ))}
    </div>
  );
}

function ToastLine({ id, text, failed }: Toast) {
  useEffect(() => {
    if (failed) return;
    const timer = setTimeout(dismiss, SHOWN_MS, id);
    return () => clearTimeout(timer);
  }, [id, failed]);
  return (
    <div className={names('toast', failed && 'toast-failed')} role={failed ? 'alert' : 'status'}>
      {failed && <CircleAlert size={16} aria-hidden />}
      <span className="toast-text">{text}</span>
      <IconButton icon={X} label="Dismiss" small onClick={() => dismiss(id)} />
    </div>
  );
}
