/**
 * What a call would do, read from its arguments: a command, a change of a file, or whatever else. Arguments that are not
 * exactly what the tool takes are shown as they are; none is ever left out.
 */

export type Proposal =
  | { kind: 'command'; command: string; rest: Fields }
  /** One piece of a file for another. */
  | { kind: 'edit'; path: string; oldText: string; newText: string; everywhere: boolean }
  /** A whole file. */
  | { kind: 'write'; path: string; content: string }
  | { kind: 'patch'; patch: string }
  | { kind: 'plan'; steps: readonly Step[] }
  /** A few short values. */
  | { kind: 'fields'; fields: Fields }
  | { kind: 'json'; text: string };

interface Step {
  content: string;
  status: string;
  priority?: string | undefined;
}

/** Name and value, as they were given. */
export type Fields = readonly (readonly [name: string, value: string])[];

const MOST_FIELDS = 8;
const SHORT = 300;

export function proposalOf(tool: string | null | undefined, input: unknown): Proposal {
  if (!isObject(input)) return { kind: 'json', text: JSON.stringify(input, null, 2) ?? '' };
  return known(tool, input) ?? other(input);
}

function known(tool: string | null | undefined, input: Record<string, unknown>): Proposal | undefined {
  switch (tool) {
    case 'bash': {
      const { command, ...rest } = input;
      return isText(command) ? { kind: 'command', command, rest: fieldsOf(rest) } : undefined;
    }
    case 'edit': {
      const { path, old_string: oldText, new_string: newText, replace_all = false, ...rest } = input;
      if (!isText(path) || !isText(oldText) || !isText(newText) || typeof replace_all !== 'boolean') return undefined;
      return isEmpty(rest) ? { kind: 'edit', path, oldText, newText, everywhere: replace_all } : undefined;
    }
    case 'write': {
      const { path, content, ...rest } = input;
      return isText(path) && isText(content) && isEmpty(rest) ? { kind: 'write', path, content } : undefined;
    }
    case 'apply_patch': {
      const { patch, ...rest } = input;
      return isText(patch) && isEmpty(rest) ? { kind: 'patch', patch } : undefined;
    }
    case 'update_plan': {
      const { entries, ...rest } = input;
      return Array.isArray(entries) && entries.every(isStep) && isEmpty(rest)
        ? { kind: 'plan', steps: entries }
        : undefined;
    }
    default:
      return undefined;
  }
}

function other(input: Record<string, unknown>): Proposal {
  const isShort = (value: unknown) => !isObject(value) && !Array.isArray(value) && String(value).length <= SHORT;
  const values = Object.values(input);
  if (values.length <= MOST_FIELDS && values.every(isShort)) return { kind: 'fields', fields: fieldsOf(input) };
  return { kind: 'json', text: JSON.stringify(input, null, 2) };
}

function fieldsOf(input: Record<string, unknown>): Fields {
  return Object.entries(input).map(([name, value]) => [name, isText(value) ? value : JSON.stringify(value)]);
}

/** One line of a patch, by what it does to a file; `meta` is the patch's own. */
export interface PatchLine {
  kind: 'file' | 'place' | 'add' | 'del' | 'same' | 'meta';
  text: string;
}

const FILE = /^\*\*\* (?:Add|Delete|Update) File: |^\*\*\* Move to: /;

/** Every line of the patch, in order: one that is not understood is shown, too. */
export function patchLines(patch: string): PatchLine[] {
  return patch.split('\n').map((line) => {
    if (FILE.test(line.trim())) return { kind: 'file', text: line };
    if (line.startsWith('***')) return { kind: 'meta', text: line };
    if (line.startsWith('@@')) return { kind: 'place', text: line };
    if (line.startsWith('+')) return { kind: 'add', text: line.slice(1) };
    if (line.startsWith('-')) return { kind: 'del', text: line.slice(1) };
    return line.startsWith(' ') ? { kind: 'same', text: line.slice(1) } : { kind: 'meta', text: line };
  });
}

/** The files that a patch names. */
export function patchFiles(patch: string): string[] {
  const named = patchLines(patch).flatMap(({ kind, text }) =>
    kind === 'file' ? [text.trim().replace(/^\*\*\* [^:]*: /, '')] : [],
  );
  return [...new Set(named)];
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isStep(value: unknown): value is Step {
  if (!isObject(value)) return false;
  const { content, status, priority, ...rest } = value;
  return isText(content) && isText(status) && (priority === undefined || isText(priority)) && isEmpty(rest);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isEmpty(rest: object): boolean {
  return Object.keys(rest).length === 0;
}
