/** What a call does or would do, whole: the command, the change, or every argument. It is what people approve by. */
import { lazy, Suspense, useMemo } from 'react';
import type { OpenSession } from '../state/open-session.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import type { Change } from './comparison.ts';
import { visible } from './plain-text.ts';
import { PlanEntries } from './plan-entries.tsx';
import { type Fields, type PatchLine, type Proposal, patchLines } from './proposal.ts';
import { ScrollBox } from './scroll-box.tsx';
import { relativePath } from './words.ts';
import './tool-body.css';

const DiffView = lazy(() => import('./diff-view.tsx').then(({ DiffView }) => ({ default: DiffView })));

interface Place {
  session: OpenSession | undefined;
  cwd: string | undefined;
  memoryKey: string;
}

export function Arguments({ proposal, ...place }: Place & { proposal: Proposal }) {
  switch (proposal.kind) {
    case 'command':
      return (
        <>
          <CodeBox label="Command" text={proposal.command} prompt="$" />
          <FieldList fields={proposal.rest} />
        </>
      );
    case 'edit':
      return <Edit {...proposal} {...place} />;
    case 'write':
      return <Write {...proposal} {...place} />;
    case 'patch':
      return <Patch patch={proposal.patch} />;
    case 'plan':
      return <PlanEntries entries={proposal.steps} />;
    case 'fields':
      return <FieldList fields={proposal.fields} />;
    case 'json':
      return <CodeBox label="Arguments" text={proposal.text} />;
  }
}

function Edit({ path, oldText, newText, everywhere, ...place }: Place & Extract<Proposal, { kind: 'edit' }>) {
  const change = useMemo(() => ({ oldText, newText }), [oldText, newText]);
  return (
    <>
      <ProposedChange change={change} path={path} isPart {...place} />
      {everywhere && <p className="tool-note">Every place where this text stands is replaced.</p>}
    </>
  );
}

function Write({ path, content, ...place }: Place & Extract<Proposal, { kind: 'write' }>) {
  const change = useMemo(() => ({ oldText: '', newText: content }), [content]);
  return (
    <>
      <ProposedChange change={change} path={path} isPart {...place} />
      <p className="tool-note">This is the whole file: what it held before is replaced.</p>
    </>
  );
}

function ProposedChange({ change, path, cwd, ...rest }: Place & { change: Change; path: string; isPart: boolean }) {
  const plain = <CodeBox label="Change" text={`${change.oldText ?? ''}\n→\n${change.newText}`} />;
  return (
    <Suspense fallback={plain}>
      <DiffView {...rest} change={change} path={relativePath(path, cwd)} memoryKey={`${rest.memoryKey} proposed`} />
    </Suspense>
  );
}

const SIGNS: Record<PatchLine['kind'], string> = { file: '', place: '', meta: '', same: ' ', add: '+', del: '−' };

function Patch({ patch }: { patch: string }) {
  const lines = useMemo(() => patchLines(patch), [patch]);
  return (
    <ScrollBox className="tool-scrolling" label="Patch">
      {lines.map(({ kind, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a patch never move.
        <span key={index} className={`patch-${kind}`}>
          {SIGNS[kind]}
          {visible(text)}
          {'\n'}
        </span>
      ))}
    </ScrollBox>
  );
}

function CodeBox({ label, text, prompt }: { label: string; text: string; prompt?: string }) {
  const shown = useMemo(() => visible(text), [text]);
  return (
    <div className="tool-code">
      <ScrollBox className="tool-scrolling" label={label}>
        {prompt && (
          <span className="tool-prompt" aria-hidden>
            {prompt}{' '}
          </span>
        )}
        {shown}
      </ScrollBox>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  );
}

function FieldList({ fields }: { fields: Fields }) {
  if (fields.length === 0) return null;
  return (
    <dl className="tool-fields">
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>{visible(name)}</dt>
          <dd>{visible(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
