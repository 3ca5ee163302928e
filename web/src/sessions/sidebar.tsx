/** The list of Sessions beside everything else; on a phone a drawer that takes the focus and gives it back. */
import { CircleHelp, Plus, Search, Settings, X } from 'lucide-react';
import { type FocusEvent, type KeyboardEvent, type MouseEvent, useEffect, useRef } from 'react';
import { ConnectionIndicator } from '../connection/indicator.tsx';
import { goTo, linkTo, route } from '../state/route.ts';
import { shell, show } from '../state/shell.ts';
import { useStore } from '../state/store.ts';
import { announce } from '../ui/announce.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { query, visibleSessions } from './list-state.ts';
import { isPhone } from './media.ts';
import { SessionDialogs } from './session-dialogs.tsx';
import { SessionList } from './session-list.tsx';
import { startClock } from './times.ts';
import './sidebar.css';

export function Sidebar() {
  const element = useRef<HTMLElement>(null);
  useDrawer(element);
  useEffect(startClock, []);
  return (
    <>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: it hears of its links, which Enter presses too. */}
      <nav ref={element} className="sidebar" aria-label="Sessions" onClick={chose} onBlur={left}>
        <div className="sidebar-brand">
          <a href={linkTo({ page: 'home' })}>
            <img src="./assets/icon.svg" alt="" width={20} height={20} />
            Pixir
          </a>
          <IconButton icon={X} label="Close the list" className="drawer-button" onClick={closeDrawer} />
        </div>
        <div className="sidebar-top">
          <Button className="sidebar-new" aria-keyshortcuts="n" onClick={() => show({ dialog: 'new' })}>
            <Plus size={16} aria-hidden />
            New Session
          </Button>
          <SearchField />
        </div>
        <div className="sidebar-list">
          <SessionList />
        </div>
        <div className="sidebar-foot">
          <ConnectionIndicator />
          <span className="sidebar-foot-buttons">
            <IconButton icon={CircleHelp} label="Keyboard" onClick={() => show({ dialog: 'keys' })} />
            <IconButton icon={Settings} label="Settings" onClick={() => show({ dialog: 'settings' })} />
          </span>
        </div>
      </nav>
      <SessionDialogs />
    </>
  );
}

function SearchField() {
  const text = useStore(query);

  useEffect(() => {
    if (text.trim() === '') return;
    const timer = setTimeout(() => announce(foundText(visibleSessions().length)), ANNOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);

  return (
    <div className="sidebar-search">
      <Search size={15} aria-hidden />
      <input
        id={SEARCH_ID}
        type="search"
        className="input"
        aria-label="Search Sessions"
        aria-keyshortcuts="/ Control+K Meta+K"
        placeholder="Search"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => query.set(event.target.value)}
        onKeyDown={inSearch}
      />
      {text === '' && <kbd aria-hidden>/</kbd>}
    </div>
  );
}

export const SEARCH_ID = 'session-search';
const ANNOUNCE_MS = 600;

function foundText(count: number): string {
  return count === 1 ? '1 Session found' : `${count} Sessions found`;
}

/** Enter and the down arrow go to what was found, Escape gives it up. */
function inSearch(event: KeyboardEvent<HTMLInputElement>): void {
  if (event.nativeEvent.isComposing) return;
  if (event.key === 'ArrowDown') focusFirst(event.currentTarget);
  else if (event.key === 'Enter') goToFirst();
  else if (event.key === 'Escape' && query.get() !== '') query.set('');
  else if (event.key === 'Escape' && !isPhone()) event.currentTarget.blur();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function focusFirst(field: HTMLElement): void {
  field.closest('nav')?.querySelector<HTMLElement>('.session-link')?.focus();
}

/** The first that fits what is typed now; the lines on the screen may be a moment behind. */
function goToFirst(): void {
  const [first] = visibleSessions();
  if (!first) return;
  goTo({ page: 'session', sessionId: first.sessionId, view: 'conversation' });
  closeDrawer();
}

function closeDrawer(): void {
  if (shell.get().drawer) show({ drawer: false });
}

/** A Session that is shown already changes no address: the drawer closes all the same. */
function chose(event: MouseEvent<HTMLElement>): void {
  const link = (event.target as HTMLElement).closest('a');
  if (link && link.hash === location.hash) closeDrawer();
}

/** Who walks out of the drawer with Tab has left it. */
function left({ currentTarget, relatedTarget }: FocusEvent<HTMLElement>): void {
  const outside = relatedTarget instanceof HTMLElement && !currentTarget.contains(relatedTarget);
  if (outside && !relatedTarget.closest('dialog')) closeDrawer();
}

function useDrawer(element: { current: HTMLElement | null }): void {
  const isOpen = useStore(shell, ({ drawer }) => drawer);
  const where = useStore(route);
  const wasOpen = useRef(false);

  // Choosing a Session is what the drawer is for.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the change of place that closes it.
  useEffect(closeDrawer, [where]);

  useEffect(() => {
    if (isOpen && !element.current?.contains(document.activeElement)) {
      const find = (what: string) => element.current?.querySelector<HTMLElement>(what);
      (find('[aria-current]') ?? find('.sidebar-new'))?.focus();
    }
    const hasFocus = document.activeElement === document.body || element.current?.contains(document.activeElement);
    if (!isOpen && wasOpen.current && hasFocus) document.querySelector<HTMLElement>('.main .drawer-button')?.focus();
    wasOpen.current = isOpen;
  }, [isOpen, element]);

  // The current one is in sight, however one came there.
  useEffect(() => {
    if (where.page !== 'session') return;
    element.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [where, element]);
}
