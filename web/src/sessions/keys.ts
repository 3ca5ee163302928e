/** Everything the keyboard does for the page as a whole. It never takes a key that somebody is typing. */
import { useEffect } from 'react';
import type { ListedSession } from '../../../src/client/connect.ts';
import { keptStore } from '../state/kept.ts';
import { goTo, type Route, route } from '../state/route.ts';
import { attentionOf, readMarks, sessions } from '../state/sessions.ts';
import { shell, show, togglePanel } from '../state/shell.ts';
import { announce } from '../ui/announce.ts';
import { comboOf, isTyped } from './combos.ts';
import { neighbour } from './list.ts';
import { visibleSessions } from './list-state.ts';
import { isPhone } from './media.ts';
import { nameOf } from './session-row.tsx';
import { renaming } from './session-title.tsx';
import { SEARCH_ID } from './sidebar.tsx';
import { ATTENTION_TEXTS } from './status-mark.tsx';

export interface Key {
  /** Any of them does it. Two with a space between are pressed one after the other. */
  combos: readonly string[];
  what: string;
  /** Absent: where it works, that place listens for it itself. */
  run?: (combo: string) => void;
}

export const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/** Keys without Ctrl, Cmd or Alt can be switched off: speech input and trembling hands press them by mistake. */
export const plainKeys = keptStore('plainKeys', true);

const DIGITS = Array.from({ length: 9 }, (_, index) => `Alt+${index + 1}`);

/** What the keyboard does, as the dialog shows it. */
export const KEYS: readonly { where: string; keys: readonly Key[] }[] = [
  {
    where: 'Sessions',
    keys: [
      { combos: ['Mod+k', '/'], what: 'Search', run: search },
      { combos: ['n'], what: 'New Session', run: () => show({ dialog: 'new' }) },
      { combos: ['j', 'Alt+ArrowDown'], what: 'Next Session', run: () => step(1) },
      { combos: ['k', 'Alt+ArrowUp'], what: 'Previous Session', run: () => step(-1) },
      {
        combos: DIGITS,
        what: 'The first nine Sessions',
        run: (combo) => visit(visibleSessions()[Number(combo.at(-1)) - 1]),
      },
      { combos: ['g h'], what: 'Home', run: () => goTo({ page: 'home' }) },
    ],
  },
  {
    where: 'On a Session',
    keys: [
      { combos: ['g l'], what: 'Log', run: () => look('log') },
      { combos: ['g c'], what: 'Conversation', run: () => look('conversation') },
      { combos: ['i', 'Enter'], what: 'Write a prompt', run: write },
      { combos: ['p'], what: 'Plan', run: () => onSession(() => togglePanel('plan')) },
      { combos: ['w'], what: 'Wire', run: () => onSession(() => togglePanel('wire')) },
      { combos: ['f'], what: 'Find in conversation', run: find },
      { combos: ['F2'], what: 'Rename', run: () => onSession(({ sessionId }) => renaming.set(sessionId)) },
    ],
  },
  {
    where: 'Everywhere',
    keys: [
      { combos: ['?'], what: 'This list', run: () => show({ dialog: 'keys' }) },
      { combos: ['Escape'], what: 'Close what is open', run: closeSomething },
    ],
  },
];

const RUNS = new Map(KEYS.flatMap(({ keys }) => keys).flatMap(({ combos, run }) => combos.map((one) => [one, run])));
const FIRSTS = new Set([...RUNS.keys()].flatMap((combo) => (combo.includes(' ') ? [combo.split(' ')[0]] : [])));
/** How long the first of two keys is remembered. */
const SECOND_MS = 1_500;

export function useKeys(): void {
  useEffect(() => {
    const listener = keyListener();
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);
}

function keyListener(): (event: KeyboardEvent) => void {
  let first: { combo: string; at: number } | undefined;
  return (event) => {
    const pressed = comboOf(event, isApple);
    if (event.defaultPrevented || event.isComposing || isElsewhere(event, pressed)) return;
    const isSecond = first !== undefined && event.timeStamp - first.at < SECOND_MS;
    const combo = isSecond ? `${first?.combo} ${pressed}` : pressed;
    first = !isSecond && FIRSTS.has(pressed) ? { combo: pressed, at: event.timeStamp } : undefined;
    const run = RUNS.get(combo);
    if (!run) return;
    if (pressed !== 'Escape') event.preventDefault();
    run(combo);
  };
}

/** Somebody else's: a field's, a dialog's, a menu's, or that of what Enter would press. */
function isElsewhere({ target }: KeyboardEvent, pressed: string): boolean {
  if (!(target instanceof HTMLElement)) return true;
  if (document.querySelector('dialog[open], [popover]:popover-open')) return true;
  if (pressed === 'Escape') return false;
  if ((pressed === 'Enter' && target !== document.body) || target.matches('select')) return true;
  if (!isTyped(pressed, isApple)) return false;
  const takesText = 'input:not([type=checkbox], [type=radio], [type=button]), textarea, [role=listbox]';
  return !plainKeys.get() || target.isContentEditable || target.matches(takesText);
}

function closeSomething(): void {
  const { drawer, panel } = shell.get();
  if (drawer) show({ drawer: false });
  else if (document.activeElement?.id === 'prompt') leavePrompt();
  else if (panel !== 'none' && !document.activeElement?.matches('input, textarea, select')) show({ panel: 'none' });
}

/** So that plain keys work again. While a Turn runs, Escape is what stops it. */
function leavePrompt(): void {
  const where = route.get();
  const all = sessions.get().sessions;
  const shown = where.page === 'session' && all.find(({ sessionId }) => sessionId === where.sessionId);
  if (shown && shown._meta.pixir.state === 'idle') document.getElementById('prompt')?.blur();
}

/** The field has the focus from the beginning where it is drawn anew. */
function write(): void {
  const field = document.getElementById('prompt');
  if (field) field.focus();
  else look('conversation');
}

function search(): void {
  if (isPhone()) show({ drawer: true });
  // The drawer is drawn first: nothing hidden takes the focus.
  setTimeout(() => {
    const field = document.getElementById(SEARCH_ID);
    if (field instanceof HTMLInputElement) field.select();
  });
}

function step(by: 1 | -1): void {
  const where = route.get();
  visit(neighbour(visibleSessions(), where.page === 'session' ? where.sessionId : undefined, by));
}

function visit(session: ListedSession | undefined): void {
  if (!session) return;
  // A title that is being typed is kept.
  if (renaming.get() !== undefined && document.activeElement instanceof HTMLElement) document.activeElement.blur();
  goTo({ page: 'session', sessionId: session.sessionId, view: 'conversation' });
  announce(`${nameOf(session)}, ${ATTENTION_TEXTS[attentionOf(session, readMarks.get())]}`);
}

function look(view: 'conversation' | 'log'): void {
  onSession((where) => goTo({ ...where, view }));
}

function find(): void {
  onSession(({ view }) => view === 'conversation' && show({ find: true }));
}

function onSession(work: (where: Extract<Route, { page: 'session' }>) => void): void {
  const where = route.get();
  if (where.page === 'session') work(where);
}
