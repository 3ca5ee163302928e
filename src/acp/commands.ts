/** The commands that a person may begin a prompt with: one line each. What is none of them is the model's to read. */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { Prompt } from '../core/conversation.ts';
import type { ContentBlock, Mode } from '../core/event.ts';
import { askedOf } from '../core/prompt-text.ts';
import { MODE_TEXTS } from './config-options.ts';

interface Command {
  description: string;
  hint: string;
  /** What it makes of the prompt; `more`: something is asked as well. */
  obey(more: boolean, text: string): Pick<Prompt, 'mode' | 'reply' | 'compact'>;
}

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  [
    'plan',
    { description: 'Investigate and plan without changing anything', hint: 'what to plan', obey: enter('plan') },
  ],
  ['build', { description: 'Work: change files and run commands', hint: 'what to build', obey: enter('build') }],
  ['compact', { description: 'Go on from a summary', hint: 'what to keep', obey: (_, text) => ({ compact: text }) }],
  ['help', { description: 'List these commands', hint: '', obey: () => ({ reply: help() }) }],
]);

function enter(mode: Mode): Command['obey'] {
  const { name, description } = MODE_TEXTS[mode];
  return (more) => (more ? { mode } : { mode, reply: `Mode: ${name}. ${description}` });
}

function help(): string {
  const lines = [...COMMANDS].map(([name, { description, hint }]) => {
    return `- \`/${name}${hint && ` [${hint}]`}\`: ${description}.`;
  });
  return `Begin a prompt with a command:\n\n${lines.join('\n')}`;
}

export const AVAILABLE_COMMANDS: SessionUpdate = {
  sessionUpdate: 'available_commands_update',
  availableCommands: [...COMMANDS].map(([name, { description, hint }]) => {
    return { name, description, ...(hint && { input: { hint } }) };
  }),
};

/** What the command at the beginning of a prompt means; nothing where there is none of ours. */
export function readCommand(content: ContentBlock[]): Pick<Prompt, 'mode' | 'reply' | 'compact' | 'command'> {
  const [first] = content;
  const [, word = ''] = (first?.type === 'text' && /^\/(\w+)(?!\S)/.exec(first.text)) || [];
  const known = COMMANDS.get(word);
  if (!known) return {};
  const asked = askedOf({ content, command: word });
  const text = textOf(asked).trim();
  const { reply, ...rest } = known.obey(text !== '' || asked.some(({ type }) => type !== 'text'), text);
  return reply === undefined ? { ...rest, command: word } : { ...rest, reply };
}

function textOf(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}
