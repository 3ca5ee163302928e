/** Chooses a folder of the server by typing its path or by walking there. It knows what the server lists, and nothing else. */
import { CornerLeftUp, Folder, History } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Directories } from '../../../src/client/connect.ts';
import { usePage } from '../page.tsx';
import { Button } from '../ui/button.tsx';
import { problemOf } from './actions.ts';
import { filtered, folderOf, type Place, placeOf, recentFolders } from './folders.ts';
import { folderNames } from './list.ts';
import { ordered } from './list-state.ts';
import { isPhone } from './media.ts';
import { takeFocus } from './session-dialogs.tsx';

interface PickerProps {
  value: string;
  onChange(path: string): void;
  /** The id of what is wrong with it. */
  problemId: string | undefined;
}

const RECENT = 4;

export function FolderPicker({ value, onChange, problemId }: PickerProps) {
  const { known, listing, problem, place } = useListing(value);
  useOnlyFolder(listing, value, onChange);
  const shown = listing ? filtered(listing.directories, place.filter) : [];
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (!isPhone()) takeFocus(field.current);
  }, []);
  // The line that was pressed has gone: the field takes its focus, but on a phone it would bring the keyboard up.
  const choose = (path: string) => {
    onChange(path);
    if (!isPhone()) field.current?.focus();
  };
  const goInto = (path: string) => choose(path === '/' ? path : `${path}/`);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys are a way through its buttons, not a control.
    <div className="folder-picker" onKeyDown={walk}>
      <label className="field">
        <span className="field-label">Folder</span>
        <input
          ref={field}
          className="input"
          value={value}
          onChange={(event) => onChange(event.target.value)}
          placeholder="/path/of/a/folder"
          aria-describedby={problemId}
          aria-invalid={problemId !== undefined}
          autoCapitalize="off"
          autoComplete="off"
          autoCorrect="off"
          spellCheck={false}
          required
        />
      </label>
      <Recent value={value} onChoose={choose} />
      <section className="folder-list" aria-label="Folders">
        <ul>
          {listing?.parent != null && place.filter === '' && (
            <Line
              icon={<CornerLeftUp size={15} aria-hidden />}
              name="Up"
              note={listing.parent}
              path={listing.parent}
              onChoose={goInto}
            />
          )}
          {shown.map(({ name, path }) => (
            <Line key={path} icon={<Folder size={15} aria-hidden />} name={name} path={path} onChoose={goInto} />
          ))}
        </ul>
        {!listing && !problem && <p className="folder-note">Reading…</p>}
        {problem && (
          <div className="folder-note">
            <p>{problem}</p>
            <Button small onClick={() => choose('')}>
              Show the server’s folders
            </Button>
          </div>
        )}
        {listing && shown.length === 0 && <p className="folder-note">{emptyText(place, known.has(folderOf(value)))}</p>}
      </section>
    </div>
  );
}

function emptyText({ inside, filter }: Place, isKnown: boolean): string {
  if (filter !== '') return `No folder here has “${filter}” in its name.`;
  return inside !== undefined && isKnown ? 'No folders inside this one.' : 'The server offers no folder.';
}

/** Chosen with one click, whatever is typed. */
function Recent({ value, onChoose }: { value: string; onChoose(path: string): void }) {
  const paths = recentFolders(ordered.get(), RECENT);
  const short = folderNames(paths);
  if (paths.length < 2) return null;
  return (
    <fieldset className="folder-recent" aria-label="Recent folders">
      {paths.map((path) => (
        <Button key={path} small title={path} aria-pressed={path === folderOf(value)} onClick={() => onChoose(path)}>
          <History size={13} aria-hidden />
          <span>{short.get(path)}</span>
        </Button>
      ))}
    </fieldset>
  );
}

interface LineProps {
  icon: ReactNode;
  name: string;
  note?: string;
  path: string;
  onChoose(path: string): void;
}

function Line({ icon, name, note, path, onChoose }: LineProps) {
  return (
    <li>
      <button type="button" className="folder-line" title={path} onClick={() => onChoose(path)}>
        {icon}
        <span className="folder-name">{name}</span>
        {note && <span className="folder-path">{note}</span>}
      </button>
    </li>
  );
}

/** Up and down between the field and the lines. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('input, .folder-line')];
  const next = all[all.indexOf(event.target as HTMLElement) + (event.key === 'ArrowDown' ? 1 : -1)];
  next?.focus();
  event.preventDefault();
}

/** Where there is nothing to choose it is chosen, once: who empties the field wants to write. */
function useOnlyFolder(listing: Directories | undefined, value: string, onChange: (path: string) => void): void {
  const isFirst = useRef(true);
  useEffect(() => {
    if (!listing || !isFirst.current) return;
    isFirst.current = false;
    const [only, ...others] = listing.path === null ? listing.directories : [];
    if (only && others.length === 0 && value === '') onChange(only.path);
  }, [listing, value, onChange]);
}

interface Answer {
  inside: string | undefined;
  listing?: Directories;
  problem?: string;
}

/** What is where the path leads. An answer that comes too late is not shown. */
function useListing(value: string) {
  const { client } = usePage();
  const [known, setKnown] = useState<ReadonlySet<string>>(() => new Set(ordered.get().map(({ cwd }) => cwd)));
  const [answer, setAnswer] = useState<Answer>();
  const place = placeOf(value, known);
  const { inside } = place;

  useEffect(() => {
    let isStale = false;
    client.request('_pixir/directories', inside === undefined ? {} : { path: inside }).then(
      (listing) => {
        if (isStale) return;
        setAnswer({ inside, listing });
        const found = [inside, ...listing.directories.map(({ path }) => path)].filter((path) => path !== undefined);
        setKnown((before) => new Set([...before, ...found]));
      },
      (error: unknown) => !isStale && setAnswer({ inside, problem: problemOf(error) }),
    );
    return () => {
      isStale = true;
    };
  }, [client, inside]);

  const current = answer && answer.inside === inside ? answer : undefined;
  return { known, place, listing: current?.listing, problem: current?.problem };
}
