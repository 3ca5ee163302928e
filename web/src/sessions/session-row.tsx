/** One Session in the list: how it is, its title, when it last changed, and what can be done with it. Drawn again only when it changed. */
import { GitFork, Link, MoreHorizontal, Pencil, ScrollText, Trash2 } from 'lucide-react';
import { memo } from 'react';
import type { ListedSession } from '../../../src/client/connect.ts';
import { usePage } from '../page.tsx';
import { goTo, linkTo } from '../state/route.ts';
import { attentionOf, readMarks } from '../state/sessions.ts';
import { useStore } from '../state/store.ts';
import { IconButton, names } from '../ui/button.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { asked, copyLink, fork } from './actions.ts';
import { ATTENTION_TEXTS, StatusMark } from './status-mark.tsx';
import { ago, clock, titleOf } from './times.ts';

interface RowProps {
  session: ListedSession;
  isCurrent: boolean;
  /** The one line of the list that Tab stops at; the arrow keys go to the others. */
  isStop: boolean;
}

export const SessionRow = memo(function SessionRow({ session, isCurrent, isStop }: RowProps) {
  const { sessionId, updatedAt } = session;
  const attention = useStore(readMarks, (marks) => {
    const now = attentionOf(session, marks);
    // Whoever sees this line sees the Session beside it, and is about to have read it.
    return isCurrent && now === 'unread' ? 'idle' : now;
  });
  const title = nameOf(session);
  const isWord = attention === 'needs_you' || attention === 'failed';
  return (
    <li className={names('session-row', isCurrent && 'session-current')} data-attention={attention}>
      <a
        className="session-link"
        href={linkTo({ page: 'session', sessionId, view: 'conversation' })}
        aria-current={isCurrent ? 'page' : undefined}
        title={title}
        tabIndex={isStop ? 0 : -1}
        data-row={sessionId}
      >
        <StatusMark attention={attention} />
        <span className="session-name">{title}</span>
      </a>
      <span className="session-end">
        {isWord ? <span aria-hidden>{ATTENTION_TEXTS[attention]}</span> : <Ago iso={updatedAt ?? ''} />}
      </span>
      <RowMenu session={session} title={title} isStop={isStop} />
    </li>
  );
});

export function Ago({ iso }: { iso: string }) {
  const text = useStore(clock, (now) => ago(iso, now));
  return (
    <time dateTime={iso} title={new Date(iso).toLocaleString()}>
      {text}
    </time>
  );
}

export function nameOf({ title, _meta }: ListedSession): string {
  return titleOf({ title, createdAt: _meta.pixir.createdAt });
}

function RowMenu({ session, title, isStop }: { session: ListedSession; title: string; isStop: boolean }) {
  const { client } = usePage();
  const { sessionId, cwd } = session;
  const subject = { sessionId, title, cwd };
  const items: MenuItem[] = [
    { label: 'Rename…', icon: <Pencil size={15} />, onSelect: () => asked.set({ kind: 'rename', subject }) },
    { label: 'Fork', icon: <GitFork size={15} />, onSelect: () => void fork(client, session) },
    { label: 'Copy link', icon: <Link size={15} />, onSelect: () => void copyLink(sessionId) },
    {
      label: 'Show Log',
      icon: <ScrollText size={15} />,
      onSelect: () => goTo({ page: 'session', sessionId, view: 'log' }),
    },
    {
      label: 'Delete…',
      icon: <Trash2 size={15} />,
      danger: true,
      onSelect: () => asked.set({ kind: 'delete', subject }),
    },
  ];
  const label = `Actions for ${title}`;
  return (
    <Menu
      label={label}
      items={items}
      trigger={(props) => (
        <IconButton {...props} icon={MoreHorizontal} label={label} title="Actions" small tabIndex={isStop ? 0 : -1} />
      )}
    />
  );
}
