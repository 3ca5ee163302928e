/** What stands above a Session: its title and folder, where to look at it, and what can be done with it as a whole. */
import { Activity, ListTodo, Menu as MenuIcon, MessageSquare, MoreHorizontal, ScrollText, Search } from 'lucide-react';
import { usePage } from '../page.tsx';
import type { OpenSession } from '../state/open-session.ts';
import { linkTo } from '../state/route.ts';
import { sessions } from '../state/sessions.ts';
import { shell, show, togglePanel } from '../state/shell.ts';
import { useStore } from '../state/store.ts';
import { IconButton, names } from '../ui/button.tsx';
import { Menu } from '../ui/menu.tsx';
import type { Subject } from './actions.ts';
import { headerItems } from './header-items.tsx';
import { useMedia } from './media.ts';
import { nameOf } from './session-row.tsx';
import { SessionTitle } from './session-title.tsx';
import './session-header.css';

interface HeaderProps {
  session: OpenSession;
  view: 'conversation' | 'log';
}

export function SessionHeader({ session, view }: HeaderProps) {
  const subject = useSubject(session);
  const isGone = useStore(session.view, ({ status }) => status === 'gone');
  return (
    <header className="main-header session-header">
      <DrawerButton />
      {isGone ? (
        <h1 className="session-title">{subject.title}</h1>
      ) : (
        <>
          <div className="session-heading">
            <SessionTitle subject={subject} />
            <p className="session-folder" title={subject.cwd}>
              {subject.cwd}
            </p>
          </div>
          <Views sessionId={session.sessionId} view={view} />
          <Tools session={session} view={view} subject={subject} />
        </>
      )}
    </header>
  );
}

/** Opens the list where it is a drawer. */
export function DrawerButton() {
  const isOpen = useStore(shell, ({ drawer }) => drawer);
  return (
    <IconButton
      icon={MenuIcon}
      label="Sessions"
      className="drawer-button"
      aria-expanded={isOpen}
      onClick={() => show({ drawer: true })}
    />
  );
}

/** What a Session is called that is in no list and has no title. */
const UNKNOWN = { opening: 'Opening…', open: 'Untitled', gone: 'Unknown Session' } as const;

function useSubject({ sessionId, view }: OpenSession): Subject {
  const listed = useStore(sessions, ({ sessions: all }) => all.find((session) => session.sessionId === sessionId));
  const title = useStore(view, (now) => now.title);
  const cwd = useStore(view, (now) => now.cwd) ?? listed?.cwd ?? '';
  const status = useStore(view, (now) => now.status);
  return { sessionId, cwd, title: title ?? (listed ? nameOf(listed) : UNKNOWN[status]) };
}

function Views({ sessionId, view }: { sessionId: string; view: HeaderProps['view'] }) {
  const tabs = [
    { to: 'conversation', name: 'Conversation', icon: MessageSquare },
    { to: 'log', name: 'Log', icon: ScrollText },
  ] as const;
  return (
    <nav className="session-views" aria-label="View">
      {tabs.map(({ to, name, icon: Icon }) => (
        <a
          key={to}
          href={linkTo({ page: 'session', sessionId, view: to })}
          aria-current={view === to ? 'page' : undefined}
          aria-label={name}
          title={name}
        >
          <Icon size={15} aria-hidden />
          <span>{name}</span>
        </a>
      ))}
    </nav>
  );
}

/** Where there is little room, most of this is in the menu. */
const NARROW = '(width < 1000px)';

function Tools({ session, view, subject }: HeaderProps & { session: OpenSession; subject: Subject }) {
  const { client } = usePage();
  const isNarrow = useMedia(NARROW);
  const { panel, find } = useStore(shell);
  const plan = useStore(session.view, planText);
  const hasPlanButton = plan !== '' || !isNarrow;
  const inConversation = view === 'conversation';
  const items = headerItems({ client, session, subject, inConversation, withButtons: isNarrow, hasPlanButton });
  return (
    <div className="session-tools">
      {hasPlanButton && (
        <button
          type="button"
          className={names('button quiet session-plan', plan === '' && 'icon')}
          aria-pressed={panel === 'plan'}
          title="Plan"
          onClick={() => togglePanel('plan')}
        >
          <ListTodo size={17} aria-hidden />
          <span className="visually-hidden">{plan === '' ? 'Plan' : `Plan, ${plan.replace('/', ' of ')} done`}</span>
          <span aria-hidden>{plan}</span>
        </button>
      )}
      {!isNarrow && (
        <>
          {inConversation && (
            <IconButton
              icon={Search}
              label="Find in conversation"
              aria-pressed={find}
              onClick={() => show({ find: !find })}
            />
          )}
          <IconButton
            icon={Activity}
            label="Wire"
            aria-pressed={panel === 'wire'}
            onClick={() => togglePanel('wire')}
          />
        </>
      )}
      <Menu
        label="Session menu"
        items={items}
        trigger={(props) => <IconButton {...props} icon={MoreHorizontal} label="Session menu" title="More" />}
      />
    </div>
  );
}

/** How many of how many; nothing where there is no plan. */
function planText({ plan }: ReturnType<OpenSession['view']['get']>): string {
  if (plan.length === 0) return '';
  return `${plan.filter(({ status }) => status === 'completed').length}/${plan.length}`;
}
