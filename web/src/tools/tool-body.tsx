/** An open tool call: its arguments, the files it names, what came of it, and the frame itself for the curious. */
import type { ToolCall } from '@agentclientprotocol/sdk';
import { Braces } from 'lucide-react';
import { useMemo } from 'react';
import type { Item } from '../state/items.ts';
import type { OpenSession } from '../state/open-session.ts';
import { Button } from '../ui/button.tsx';
import { Arguments } from './arguments.tsx';
import { type CallState, diffsOf, metaOf } from './call-state.ts';
import { useRemembered } from './card-memory.ts';
import { ContentPart } from './content-part.tsx';
import { Output } from './output.tsx';
import { visible } from './plain-text.ts';
import { proposalOf } from './proposal.ts';
import { durationText, relativePath } from './words.ts';
import './tool-body.css';

interface ToolBodyProps {
  id: string;
  item: Extract<Item, { type: 'tool' }>;
  state: CallState;
  session: OpenSession | undefined;
  cwd: string | undefined;
}

export function ToolBody({ id, item, state, session, cwd }: ToolBodyProps) {
  const { call } = item;
  const proposal = useMemo(() => proposalOf(call.name, call.rawInput), [call.name, call.rawInput]);
  const diffs = diffsOf(call);
  const others = (call.content ?? []).filter((part) => part.type !== 'diff');
  const part = { session, cwd, memoryKey: item.id };
  // What was changed is shown as it was done: what was asked for would be the same once more.
  const isShownByDiffs = diffs.length > 0 && proposal.kind !== 'command' && proposal.kind !== 'fields';
  const end = { note: endNote(call), isQuiet: diffs.length > 0 || proposal.kind === 'plan' };

  return (
    <div className="tool-body" id={id}>
      {!isShownByDiffs && <Arguments proposal={proposal} {...part} />}
      <Files call={call} cwd={cwd} />
      {diffs.map((diff, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a result does not change any more.
        <ContentPart key={index} content={diff} {...part} memoryKey={`${item.id} diff ${index}`} />
      ))}
      {state !== 'running' &&
        others.map((content, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a result does not change any more.
          <ContentPart key={index} content={content} {...part} {...end} memoryKey={`${item.id} ${index}`} />
        ))}
      {state === 'running' && call.content?.some(({ type }) => type === 'terminal') && (
        <p className="tool-note">It runs in the terminal of a connected editor.</p>
      )}
      {state === 'interrupted' && <p className="tool-note">No result was recorded. It is not run again by itself.</p>}
      <RawCall call={call} {...part} />
    </div>
  );
}

/** How it ended, in full: the closed card says only what is news. */
function endNote(call: Partial<ToolCall>): string | undefined {
  const { exitCode, durationMs } = metaOf(call);
  const exit = exitCode === undefined ? [] : [exitCode === null ? 'no exit code' : `exit code ${exitCode}`];
  const took = durationMs === undefined ? [] : [durationText(durationMs)];
  return [...exit, ...took].join(' · ') || undefined;
}

/** Those that its arguments do not name. */
function Files({ call: { locations = [], rawInput }, cwd }: { call: Partial<ToolCall>; cwd: string | undefined }) {
  const named = JSON.stringify(rawInput) ?? '';
  const paths = [...new Set(locations.map(({ path }) => relativePath(path, cwd)))].filter(
    (path) => !named.includes(path),
  );
  if (paths.length === 0) return null;
  return (
    <ul className="tool-files" aria-label="Files">
      {paths.map((path) => (
        <li key={path}>
          <code>{visible(path)}</code>
        </li>
      ))}
    </ul>
  );
}

interface RawCallProps {
  call: Partial<ToolCall>;
  session: OpenSession | undefined;
  memoryKey: string;
}

function RawCall({ call, session, memoryKey }: RawCallProps) {
  const [isOpen = false, setOpen] = useRemembered<boolean>(session, `${memoryKey} raw`);
  const text = useMemo(() => (isOpen ? JSON.stringify(call, null, 2) : ''), [isOpen, call]);
  return (
    <>
      <Button look="quiet" small className="tool-raw" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Braces size={13} aria-hidden />
        {isOpen ? 'Hide raw JSON' : 'Raw JSON'}
      </Button>
      {isOpen && <Output label="Raw JSON" text={text} session={session} memoryKey={`${memoryKey} raw`} />}
    </>
  );
}
