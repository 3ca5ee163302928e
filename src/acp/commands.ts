/** The commands that a person may begin a prompt with: one line each. What is none of them is the model's to read. */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { Prompt } from '../core/conversation.ts';
import type { ContentBlock, Mode } from '../core/event.ts';
import { askedOf } from '../core/prompt-text.ts';
import type { Skill } from '../core/skills.ts';
import { MODE_TEXTS } from './config-options.ts';

interface Command {
  description: string;
  hint: string;
  /** What it makes of the prompt; `more`: something is asked as well. */
  obey(more: boolean, text: string, skills: Skills): Obeyed | Promise<Obeyed>;
}

type Obeyed = Pick<Prompt, 'mode' | 'reply' | 'compact'>;
type Skills = () => Promise<readonly Skill[]>;

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  [
    'plan',
    { description: 'Investigate and plan without changing anything', hint: 'what to plan', obey: enter('plan') },
  ],
  ['build', { description: 'Work: change files and run commands', hint: 'what to build', obey: enter('build') }],
  ['compact', { description: 'Go on from a summary', hint: 'what to keep', obey: (_, text) => ({ compact: text }) }],
  ['help', { description: 'List these commands', hint: '', obey: help }],
]);

function enter(mode: Mode): Command['obey'] {
  const { name, description } = MODE_TEXTS[mode];
  return (more) => (more ? { mode } : { mode, reply: `Mode: ${name}. ${description}` });
}

async function help(_more: boolean, _text: string, skills: Skills): Promise<Obeyed> {
  const lines = [...COMMANDS].map(([name, { description, hint }]) => {
    return `- \`/${name}${hint && ` [${hint}]`}\`: ${description}.`;
  });
  if ((await skills()).length > 0) lines.push('- `/name`, or `$name` anywhere: Take up the skill of that name.');
  return { reply: `Begin a prompt with a command:\n\n${lines.join('\n')}` };
}

/** The commands and, behind them, the skills. A command hides a skill of its name, as it does in a prompt. */
export function availableCommands(
  skills: readonly Skill[],
): Extract<SessionUpdate, { sessionUpdate: 'available_commands_update' }> {
  const commands = [...COMMANDS].map(([name, { description, hint }]) => {
    return { name, description, ...(hint && { input: { hint } }) };
  });
  const more = skills
    .filter(({ name }) => !COMMANDS.has(name))
    .map(({ name, description }) => ({ name, description, input: { hint: 'what to do with this skill' } }));
  return { sessionUpdate: 'available_commands_update', availableCommands: [...commands, ...more] };
}

/** What the command at the beginning of a prompt means; nothing where there is none of ours. */
export async function readCommand(content: ContentBlock[], skills: Skills): Promise<Obeyed & Pick<Prompt, 'command'>> {
  const [first] = content;
  const [, word = ''] = (first?.type === 'text' && /^\/(\w+)(?!\S)/.exec(first.text)) || [];
  const known = COMMANDS.get(word);
  if (!known) return {};
  const asked = askedOf({ content, command: word });
  const text = textOf(asked).trim();
  const { reply, ...rest } = await known.obey(text !== '' || asked.some(({ type }) => type !== 'text'), text, skills);
  return reply === undefined ? { ...rest, command: word } : { ...rest, reply };
}

function textOf(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}
