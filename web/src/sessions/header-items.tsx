/** What the menu above a Session offers; on narrow windows also what has no button there. */
import { Activity, Braces, Copy, Download, GitFork, Link, ListTodo, Search, Trash2 } from 'lucide-react';
import type { Client } from '../server/client.ts';
import type { OpenSession } from '../state/open-session.ts';
import { show, togglePanel } from '../state/shell.ts';
import type { MenuItem } from '../ui/menu.tsx';
import { asked, copyConversation, copyLink, exportConversation, fork, type Subject } from './actions.ts';

interface Above {
  client: Client;
  session: OpenSession;
  subject: Subject;
  inConversation: boolean;
  /** Also what has a button of its own where there is room. */
  withButtons: boolean;
  hasPlanButton: boolean;
}

export function headerItems({
  client,
  session,
  subject,
  inConversation,
  withButtons,
  hasPlanButton,
}: Above): MenuItem[] {
  const find = { label: 'Find in conversation', icon: <Search size={15} />, onSelect: () => show({ find: true }) };
  const plan = { label: 'Plan', icon: <ListTodo size={15} />, onSelect: () => togglePanel('plan') };
  const buttons: MenuItem[] = [
    ...(inConversation ? [find] : []),
    ...(hasPlanButton ? [] : [plan]),
    { label: 'Wire', icon: <Activity size={15} />, onSelect: () => togglePanel('wire') },
  ];
  return [
    ...(withButtons ? buttons : []),
    { label: 'Copy as Markdown', icon: <Copy size={15} />, onSelect: () => void copyConversation(session) },
    {
      label: 'Export Markdown',
      icon: <Download size={15} />,
      onSelect: () => void exportConversation(session, 'markdown'),
    },
    { label: 'Export JSON', icon: <Braces size={15} />, onSelect: () => void exportConversation(session, 'json') },
    { label: 'Copy link', icon: <Link size={15} />, onSelect: () => void copyLink(subject.sessionId) },
    { label: 'Fork', icon: <GitFork size={15} />, onSelect: () => void fork(client, subject) },
    {
      label: 'Delete…',
      icon: <Trash2 size={15} />,
      danger: true,
      onSelect: () => asked.set({ kind: 'delete', subject }),
    },
  ];
}
