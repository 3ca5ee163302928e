/** One question: all that would run, and the choices. `a` allows once and `r` rejects, while the card has the focus. */
import { ChevronLeft, ChevronRight, Folder, ShieldQuestion, TriangleAlert } from 'lucide-react';
import { type KeyboardEvent, type RefObject, useEffect, useId, useMemo, useRef, useState } from 'react';
import type { OpenSession } from '../state/open-session.ts';
import type { WaitingPermission } from '../state/session-view.ts';
import { useStore } from '../state/store.ts';
import { announce } from '../ui/announce.ts';
import { IconButton, names } from '../ui/button.tsx';
import { ApprovalChoices } from './approval-choices.tsx';
import { choicesOf, questionOf, said } from './approval-words.ts';
import { Arguments } from './arguments.tsx';
import { useNow } from './clock.ts';
import { Output } from './output.tsx';
import { visible } from './plain-text.ts';
import { proposalOf } from './proposal.ts';
import { countdown } from './words.ts';

/** Among the others that wait. */
interface Place {
  index: number;
  count: number;
  go(step: number): void;
}

interface ApprovalCardProps {
  session: OpenSession;
  permission: WaitingPermission;
  place: Place;
  /** The card before this one had the focus when it was answered. */
  takesFocus: RefObject<boolean>;
}

/** A second click, or a key held down, was meant for the question before. */
const CALM_MS = 500;

export function ApprovalCard({ session, permission, place, takesFocus }: ApprovalCardProps) {
  const { permissionId, request, expiresAt } = permission;
  const cwd = useStore(session.view, (view) => view.cwd);
  const { name, rawInput } = request.toolCall;
  const proposal = useMemo(() => proposalOf(name, rawInput), [name, rawInput]);
  const question = questionOf(request.toolCall, proposal, cwd);
  const { warnings, everything } = useMemo(() => said(request.toolCall), [request]);
  const choices = useMemo(() => choicesOf(request), [request]);
  const box = useRef<HTMLElement>(null);
  const headingId = useId();
  const isReady = useCalm();
  useArrival(box, takesFocus, `Approval needed: ${question}`);

  function answer(optionId: string): void {
    takesFocus.current = box.current?.contains(document.activeElement) ?? false;
    session.answer(permissionId, optionId);
  }

  function keyed(event: KeyboardEvent): void {
    if (!isReady || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    const option = { a: choices.once, r: choices.reject }[event.key];
    if (!option) return;
    event.preventDefault();
    answer(option.optionId);
  }

  return (
    <section ref={box} className="approval" aria-labelledby={headingId} tabIndex={-1} onKeyDown={keyed}>
      <header className="approval-head">
        <ShieldQuestion size={18} aria-hidden />
        <h2 id={headingId}>
          <span className="visually-hidden">Approval needed: </span>
          {question}
        </h2>
        <Expiry expiresAt={expiresAt} />
        <Others {...place} />
      </header>
      {cwd !== undefined && (
        <p className="approval-folder">
          <Folder size={13} aria-hidden />
          <span className="visually-hidden">in the folder</span> <code>{visible(cwd)}</code>
        </p>
      )}
      <div className="approval-body">
        {warnings.map((warning) => (
          <p key={warning} className="approval-warning">
            <TriangleAlert size={15} aria-hidden />
            {warning}
          </p>
        ))}
        <Arguments proposal={proposal} session={session} cwd={cwd} memoryKey={permissionId} />
        {proposal.kind !== 'json' && <Exactly text={everything} session={session} memoryKey={permissionId} />}
      </div>
      <ApprovalChoices choices={choices} isReady={isReady} onAnswer={answer} />
    </section>
  );
}

/** The arguments as they are sent to the tool: a card made for reading shows some of them in another form. */
function Exactly({ text, ...memory }: { text: string; session: OpenSession; memoryKey: string }) {
  if (text === '') return null;
  return (
    <details className="approval-exactly">
      <summary>Exact arguments</summary>
      <Output label="Arguments" text={text} {...memory} />
    </details>
  );
}

function Expiry({ expiresAt }: { expiresAt: number | undefined }) {
  const now = useNow(expiresAt !== undefined);
  if (expiresAt === undefined) return null;
  const { text, urgent } = countdown(expiresAt - now);
  return <span className={names('approval-expiry', urgent && 'approval-urgent')}>{text}</span>;
}

function Others({ index, count, go }: Place) {
  if (count < 2) return null;
  return (
    <span className="approval-others">
      <IconButton icon={ChevronLeft} label="Previous question" small disabled={index === 0} onClick={() => go(-1)} />
      <span>
        {index + 1} of {count}
      </span>
      <IconButton
        icon={ChevronRight}
        label="Next question"
        small
        disabled={index === count - 1}
        onClick={() => go(1)}
      />
    </span>
  );
}

function useCalm(): boolean {
  const [isCalm, setCalm] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setCalm(true), CALM_MS);
    return () => clearTimeout(timer);
  }, []);
  return isCalm;
}

/** Said aloud; and, where the last card was answered from the keyboard, the next one is where its keys go. */
function useArrival(box: RefObject<HTMLElement | null>, takesFocus: RefObject<boolean>, heading: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the card comes.
  useEffect(() => {
    announce(heading);
    if (takesFocus.current) box.current?.focus();
    takesFocus.current = false;
  }, []);
}
