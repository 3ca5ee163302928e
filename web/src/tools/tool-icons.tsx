/** The pictures of a tool call: what kind it is, and how it stands. The standing has words, too. */
import type { ToolKind } from '@agentclientprotocol/sdk';
import {
  ArrowRightLeft,
  Brain,
  Check,
  CircleAlert,
  CircleHelp,
  FileText,
  FolderInput,
  Globe,
  Hand,
  type LucideIcon,
  Pencil,
  Search,
  SquareTerminal,
  Trash2,
  Wrench,
} from 'lucide-react';
import type { CallState } from './call-state.ts';

const KINDS: Record<ToolKind, LucideIcon> = {
  read: FileText,
  edit: Pencil,
  delete: Trash2,
  move: FolderInput,
  search: Search,
  execute: SquareTerminal,
  think: Brain,
  fetch: Globe,
  switch_mode: ArrowRightLeft,
  other: Wrench,
};

export function KindIcon({ kind }: { kind: ToolKind | null | undefined }) {
  // A server may be newer than this page.
  const Icon = KINDS[kind ?? 'other'] ?? Wrench;
  return <Icon size={15} className="tool-kind" aria-hidden />;
}

const STATES: Record<Exclude<CallState, 'running'>, { icon: LucideIcon; words: string }> = {
  waiting: { icon: Hand, words: 'waiting for a decision' },
  completed: { icon: Check, words: 'completed' },
  failed: { icon: CircleAlert, words: 'failed' },
  interrupted: { icon: CircleHelp, words: 'interrupted, its result is not known' },
};

export function StateMark({ state }: { state: CallState }) {
  const { icon: Icon, words } = state === 'running' ? { icon: undefined, words: 'running' } : STATES[state];
  return (
    <span className={`tool-state tool-${state}`} title={words}>
      {Icon ? <Icon size={15} aria-hidden /> : <span className="spinner" aria-hidden />}
      <span className="visually-hidden">{words}</span>
    </span>
  );
}
