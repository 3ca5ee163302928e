/** The suggestions above the field. The field keeps the focus; the list only shows which one Enter would take. */
import { File, SquareSlash } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { names } from '../ui/button.tsx';
import './completion.css';
import type { Completion, Suggestion } from './use-completion.ts';

interface ListProps {
  id: string;
  completion: Completion;
}

export function CompletionList({ id, completion: { trigger, suggestions, searching, active, take } }: ListProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  if (!trigger) return null;
  if (suggestions.length === 0) return <Nothing kind={trigger.kind} searching={searching} />;

  return (
    <div ref={list} id={id} className="completion" role="listbox" aria-label={LABELS[trigger.kind]}>
      {suggestions.map((suggestion, index) => (
        // biome-ignore lint/a11y: the field has the focus, and its keys choose.
        <div
          key={nameOf(suggestion)}
          id={optionId(id, index)}
          role="option"
          aria-selected={index === active}
          className={names('completion-option', index === active && 'active')}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => take(index)}
        >
          <Option suggestion={suggestion} />
        </div>
      ))}
    </div>
  );
}

const LABELS = { command: 'Commands', file: 'Files' };

export function optionId(listId: string, index: number): string {
  return `${listId}-${index}`;
}

/** A command that does not exist may be something to say: nothing is shown. A file that does not exist is worth a word. */
function Nothing({ kind, searching }: { kind: 'command' | 'file'; searching: boolean }) {
  if (kind === 'command') return null;
  return <div className="completion completion-nothing">{searching ? 'Looking for files…' : 'No such file'}</div>;
}

function Option({ suggestion }: { suggestion: Suggestion }) {
  if (suggestion.kind === 'file') {
    const { path } = suggestion.file;
    const slash = path.lastIndexOf('/') + 1;
    return (
      <>
        <File size={15} aria-hidden />
        <span className="completion-name">{path.slice(slash)}</span>
        <span className="completion-note">{path.slice(0, slash)}</span>
      </>
    );
  }
  const { name, description, input } = suggestion.command;
  return (
    <>
      <SquareSlash size={15} aria-hidden />
      <span className="completion-name">
        /{name}
        {input && <span className="completion-hint"> {input.hint}</span>}
      </span>
      <span className="completion-note">{description}</span>
    </>
  );
}

function nameOf(suggestion: Suggestion): string {
  return suggestion.kind === 'file' ? suggestion.file.path : suggestion.command.name;
}
