/** The Sessions, grouped by workspace. Tab stops at it once; the arrow keys walk through it. */
import { ChevronRight, Plus } from 'lucide-react';
import { type FocusEvent, type KeyboardEvent, memo, useDeferredValue, useMemo, useState } from 'react';
import { route } from '../state/route.ts';
import { type Attention, attentionOf, readMarks, sessions } from '../state/sessions.ts';
import { show } from '../state/shell.ts';
import { useStore } from '../state/store.ts';
import { Button, IconButton, names } from '../ui/button.tsx';
import { type Group, grouped, matching } from './list.ts';
import { collapsed, isFolded, lastFolder, ordered, query, toggleGroup } from './list-state.ts';
import { SessionRow } from './session-row.tsx';
import { StatusMark } from './status-mark.tsx';
import './session-list.css';

export function SessionList() {
  const { loading, groups, searched } = useListed();
  const folded = useStore(collapsed);
  const currentId = useStore(route, (where) => (where.page === 'session' ? where.sessionId : undefined));
  const [focusedRow, setFocusedRow] = useState<string>();

  if (loading) return <Skeleton />;
  if (groups.length === 0) return <Nothing searched={searched} />;
  const rows = groups.filter(({ cwd }) => !isFolded(cwd, folded, searched)).flatMap(({ sessions: inside }) => inside);
  const isThere = (row: string | undefined) => rows.some(({ sessionId }) => sessionId === row);
  const stop = [focusedRow, currentId].find(isThere) ?? rows[0]?.sessionId;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys are a way through its links, not a control.
    <div
      className="session-groups"
      onKeyDown={walk}
      onFocus={(event: FocusEvent<HTMLElement>) => setFocusedRow(event.target.dataset.row ?? focusedRow)}
    >
      {groups.map((group) => (
        <GroupOfSessions key={group.cwd} group={group} currentId={currentId} stop={stop} />
      ))}
    </div>
  );
}

interface Listed {
  loading: boolean;
  groups: readonly Group[];
  searched: string;
}

const NOT_YET: Listed = { loading: true, groups: [], searched: '' };

/** Drawn when there is time: hundreds of lines must not hold up what is being typed. */
function useListed(): Listed {
  const loading = useStore(sessions, (view) => view.loading);
  const all = useStore(ordered);
  const searched = useStore(query);
  const listed = useMemo(
    () => ({ loading, groups: grouped(matching(all, searched)), searched }),
    [loading, all, searched],
  );
  return useDeferredValue(listed, NOT_YET);
}

interface GroupProps {
  group: Group;
  currentId: string | undefined;
  stop: string | undefined;
}

const GroupOfSessions = memo(function GroupOfSessions({ group, currentId, stop }: GroupProps) {
  const { cwd, name, sessions: inside } = group;
  const searched = useStore(query);
  const folded = useStore(collapsed, (all) => isFolded(cwd, all, searched));
  const hidden = useStore(readMarks, (marks) => (folded ? firstOf(inside, marks) : undefined));
  return (
    <section className="session-group">
      <div className="session-group-head" title={cwd}>
        <h2>
          <button type="button" aria-expanded={!folded} onClick={() => toggleGroup(cwd)} data-group>
            <ChevronRight size={14} className={names('session-chevron', !folded && 'session-unfolded')} aria-hidden />
            <span className="session-group-name">{name}</span>
            {hidden && <StatusMark attention={hidden} />}
            {folded && <span className="session-group-count">{inside.length}</span>}
          </button>
        </h2>
        <IconButton icon={Plus} label={`New Session in ${name}`} small onClick={() => newIn(cwd)} />
      </div>
      {!folded && (
        <ul>
          {inside.map((session) => (
            <SessionRow
              key={session.sessionId}
              session={session}
              isCurrent={session.sessionId === currentId}
              isStop={session.sessionId === stop}
            />
          ))}
        </ul>
      )}
    </section>
  );
}, isSame);

/** Lists are made anew whenever one Session changes; most groups are as they were. */
function isSame(before: GroupProps, now: GroupProps): boolean {
  const { group, currentId, stop } = now;
  const isIn = (sessionId: string | undefined) => group.sessions.some((session) => session.sessionId === sessionId);
  if (before.currentId !== currentId && (isIn(before.currentId) || isIn(currentId))) return false;
  if (before.stop !== stop && (isIn(before.stop) || isIn(stop))) return false;
  if (before.group.name !== group.name || before.group.sessions.length !== group.sessions.length) return false;
  return group.sessions.every((session, index) => session === before.group.sessions[index]);
}

/** What a person should know of Sessions that are folded away. */
function firstOf(inside: Group['sessions'], marks: ReturnType<typeof readMarks.get>): Attention | undefined {
  const attentions = new Set(inside.map((session) => attentionOf(session, marks)));
  return (['needs_you', 'running', 'failed', 'unread'] as const).find((one) => attentions.has(one));
}

function newIn(cwd: string): void {
  lastFolder.set(cwd);
  show({ dialog: 'new' });
}

/** Up and down through everything, left and right to fold. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  const at = event.target as HTMLElement;
  if (event.altKey || event.ctrlKey || event.metaKey || !at.matches('[data-row], [data-group]')) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row], [data-group]')];
  const now = rows.indexOf(at);
  const isOpen = at.getAttribute('aria-expanded');
  const next = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (next !== undefined) rows[next]?.focus();
  else if (event.key === 'ArrowLeft' && isOpen === null) headOf(at)?.focus();
  else if (event.key === (isOpen === 'true' ? 'ArrowLeft' : 'ArrowRight') && isOpen !== null) at.click();
  else return;
  event.preventDefault();
}

function headOf(row: HTMLElement): HTMLElement | null {
  return row.closest('section')?.querySelector<HTMLElement>('[data-group]') ?? null;
}

function Nothing({ searched }: { searched: string }) {
  if (searched.trim() === '') return <p className="session-nothing">No Sessions yet.</p>;
  return (
    <div className="session-nothing">
      <p>No Session has “{searched.trim()}” in its title or folder.</p>
      <Button small onClick={() => query.set('')}>
        Clear search
      </Button>
    </div>
  );
}

function Skeleton() {
  return (
    <div className="session-skeleton" role="status">
      <span className="visually-hidden">Loading Sessions…</span>
      {[70, 88, 60, 78, 50].map((width) => (
        <span key={width} style={{ inlineSize: `${width}%` }} />
      ))}
    </div>
  );
}
