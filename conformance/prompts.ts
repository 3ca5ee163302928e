/** What to say to an agent so that it does what a requirement is about. An agent that does something else is not judged. */
import { isObject } from './requirement.ts';

export const DEFAULT_PROMPTS = {
  /** Answers in a few words. */
  text: 'Reply with the single word: hello',
  /** Stays busy until it is cancelled. */
  busy: 'Count from 1 to 5000 in words, one number per line. Do not use tools and do not stop early.',
  /** Makes at least one tool call. */
  tool: 'List the files of the current directory with a tool.',
  /** Writes the file conformance.txt, and asks for permission to do so. */
  permission: 'Create the file conformance.txt with the content "hello" in the current directory. Use a tool.',
  /** Reads the file README.md, through the client where it offers that. */
  read: 'Read the file README.md of the current directory with a tool and repeat its first word.',
  /** Runs a command in a terminal of the client. */
  terminal: 'Run the command `echo hello` in the terminal.',
  /** Asks the person something in a form. */
  elicitation: 'Ask me for my favourite colour with a form.',
};

export type Prompts = typeof DEFAULT_PROMPTS;

/** @param file a JSON object with any of the prompts above. @throws Error for any other member */
export function readPrompts(file: string): Prompts {
  const own: unknown = JSON.parse(file);
  if (!isObject(own)) throw new Error('the prompts are not a JSON object');
  for (const [name, prompt] of Object.entries(own)) {
    if (!(name in DEFAULT_PROMPTS)) throw new Error(`there is no prompt "${name}"`);
    if (typeof prompt !== 'string') throw new Error(`the prompt "${name}" is not a text`);
  }
  return { ...DEFAULT_PROMPTS, ...own };
}
