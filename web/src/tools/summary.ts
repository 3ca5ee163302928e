/** A tool call in one line: which tool, on what. For the closed card and for headings; the whole arguments are elsewhere. */
import { visible } from './plain-text.ts';
import { isObject, patchFiles } from './proposal.ts';
import { relativePath } from './words.ts';

export interface Summary {
  tool: string;
  detail: string;
  /** The detail is code or a path. */
  isCode: boolean;
}

interface Call {
  name?: string | null;
  title?: string | null;
  rawInput?: unknown;
}

const LONGEST = 300;

export function summaryOf({ name, title, rawInput }: Call, cwd?: string): Summary {
  const tool = visible(name ?? '') || 'Tool';
  const said = isObject(rawInput) ? detailOf(tool, rawInput, cwd) : undefined;
  if (said !== undefined && said !== '') return { tool, detail: oneLine(said), isCode: !IN_WORDS.has(tool) };
  return { tool, detail: oneLine(withoutName(title ?? '', tool)), isCode: false };
}

const IN_WORDS = new Set(['ask_user', 'update_plan', 'skill']);

function detailOf(tool: string, input: Record<string, unknown>, cwd?: string): string | undefined {
  const text = (key: string) => (typeof input[key] === 'string' ? input[key] : undefined);
  const path = () => relativePath(text('path') ?? '.', cwd);
  const within = text('path') === undefined ? '' : ` in ${path()}`;
  switch (tool) {
    case 'bash':
      return text('command');
    case 'read':
      return path() + lineRange(input);
    case 'write':
    case 'edit':
    case 'list':
      return path();
    case 'apply_patch':
      return files(text('patch') ?? '');
    case 'glob':
      return text('pattern') && `${text('pattern')}${within}`;
    case 'grep':
      return text('pattern') && `${text('pattern')}${within}${text('glob') ? ` (${text('glob')})` : ''}`;
    case 'ask_user':
      return text('question');
    case 'skill':
      return [text('name'), text('path')].filter(Boolean).join(': ');
    case 'update_plan':
      return planProgress(input.entries);
    default:
      return undefined;
  }
}

function lineRange({ offset, limit }: Record<string, unknown>): string {
  const first = typeof offset === 'number' && offset > 0 ? offset : 1;
  if (typeof limit === 'number') return `:${first}-${first + limit - 1}`;
  return first > 1 ? `:${first}-` : '';
}

function files(patch: string): string {
  const [first = '', ...others] = patchFiles(patch);
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

function planProgress(entries: unknown): string | undefined {
  if (!Array.isArray(entries)) return undefined;
  const done = entries.filter((entry) => isObject(entry) && entry.status === 'completed').length;
  return `${done} of ${entries.length} done`;
}

function withoutName(title: string, tool: string): string {
  return title === tool ? '' : title.startsWith(tool) ? title.slice(tool.length).replace(/^:?\s+/, '') : title;
}

/** The first line that says anything, and that there are more. */
function oneLine(text: string): string {
  const lines = text
    .slice(0, 10 * LONGEST)
    .trim()
    .split('\n');
  const first = visible(lines[0] ?? '').replaceAll('\t', ' ');
  return lines.length > 1 || first.length > LONGEST ? `${first.slice(0, LONGEST)} …` : first;
}
