/**
 * The model's answers, derived from the history alone, so that any number of Turns works and a Turn that a crash cut
 * goes on; and the tools that they call, which count what is done. Nothing comes before it is stepped.
 */
import * as z from 'zod';
import { CoreError } from '../../../src/core/errors.ts';
import type { HistoryItem, Provider, ProviderEvent } from '../../../src/core/provider.ts';
import { defineTool, type Tool, type ToolResult } from '../../../src/core/tool.ts';
import { call, deltas, say, think } from '../../../src/providers/script.ts';
import { unlessAborted } from '../../../src/providers/wait.ts';

type Spoken = { say: string } | { think: string } | { call: 'look' | 'poke' | 'work' | 'planner' } | { fail: string };

/** By name: the rounds of an answer, each one call of the model. */
export const ANSWERS = {
  text: [[{ say: 'This is an answer of several words, so that it takes a while to be said.' }]],
  thought: [
    [{ think: 'Let me see now what there is to think about it.' }, { say: 'Yes, it is so, as far as I know.' }],
  ],
  messages: [[{ say: 'One thing. ' }, { say: 'And another thing.' }]],
  look: [[{ think: 'Look first.' }, { say: 'I look. ' }, { call: 'look' }], [{ say: 'I have seen it.' }]],
  poke: [[{ call: 'poke' }], [{ think: 'Poked.' }, { say: 'It is done.' }]],
  pokes: [[{ say: 'Twice. ' }, { call: 'poke' }, { call: 'poke' }], [{ say: 'Both are done.' }]],
  work: [[{ call: 'work' }], [{ say: 'A lot of work.' }]],
  plan: [[{ say: 'A plan. ' }, { call: 'planner' }, { call: 'poke' }], [{ call: 'work' }], [{ say: 'As planned.' }]],
  failure: [[{ fail: 'I will just say that' }]],
} satisfies Record<string, Spoken[][]>;

/** Lets the model and the tools go on, one event at a time. */
export interface Pacer {
  /** So many events from now on; what was not used of an earlier grant is void. */
  grant(events: number): void;
  take(signal: AbortSignal): Promise<void>;
}

export function createPacer(): Pacer {
  let granted = 0;
  let wake = () => {};
  return {
    grant(events) {
      granted = events;
      wake();
    },
    async take(signal) {
      while (granted === 0) {
        const granting = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await unlessAborted(granting, signal);
      }
      granted--;
    },
  };
}

export function pacedProvider(pacer: Pacer): Provider {
  return {
    async *stream({ history }, signal) {
      const { prompt, called, round } = nextRound(history);
      let call = called;
      for (const spoken of round) {
        for (const event of eventsOf(spoken, `${prompt} call ${call}`)) {
          await pacer.take(signal);
          yield event;
        }
        if ('call' in spoken) call++;
        if ('fail' in spoken) throw new CoreError('network', 'the model went away');
      }
      await pacer.take(signal);
      yield { type: 'finished', reason: 'stop', usage: { input: 100 + called, cached: 0, output: 10, reasoning: 0 } };
    },
  };
}

/** The prompt names its answer, and the calls since then say how far it has come. */
function nextRound(history: readonly HistoryItem[]) {
  const asked = history.findLastIndex((item) => promptOf(item) !== undefined);
  const prompt = promptOf(history[asked]) ?? '';
  const called = history.slice(asked).filter(({ type }) => type === 'tool_call').length;
  const rounds: readonly Spoken[][] = ANSWERS[prompt.split(' ')[1] as keyof typeof ANSWERS];
  let calls = 0;
  const round = rounds.find((spoken) => {
    const own = spoken.filter((one) => 'call' in one).length;
    calls += own;
    return own === 0 || called < calls;
  });
  return { prompt, called, round: round ?? [] };
}

function promptOf(item: HistoryItem | undefined): string | undefined {
  const [first] = item?.type === 'user' ? item.content : [];
  return first?.type === 'text' ? first.text.match(/^prompt-\d+ \w+/)?.[0] : undefined;
}

function eventsOf(spoken: Spoken, text: string): ProviderEvent[] {
  if ('say' in spoken) return say(spoken.say);
  if ('think' in spoken) return think(spoken.think);
  if ('fail' in spoken) return deltas('message', spoken.fail);
  return [call(text.replaceAll(' ', '_'), spoken.call, { text })];
}

/** How often each call was carried out, by its text. */
export type Deeds = Map<string, number>;

export function countedTools(pacer: Pacer, deeds: Deeds): Tool[] {
  const tool = (name: string, effect: 'read' | 'write', run: Tool['run']) =>
    defineTool({
      name,
      description: `Model tool ${name}.`,
      kind: effect === 'read' ? 'read' : 'edit',
      schema: z.strictObject({ text: z.string() }),
      effect: () => effect,
      title: ({ text }) => `${name} ${text}`,
      run(args, context) {
        deeds.set(args.text, (deeds.get(args.text) ?? 0) + 1);
        return run(args, context);
      },
      dryRun: async () => ({ ok: true, output: '' }),
    });
  const done = async (): Promise<ToolResult> => ({ ok: true, output: 'done' });
  return [
    tool('look', 'read', done),
    tool('poke', 'write', done),
    tool('planner', 'read', async ({ text }) => {
      return { ok: true, output: 'done', plan: [{ content: String(text), priority: 'high', status: 'pending' }] };
    }),
    tool('work', 'read', async (_args, { signal, progress }) => {
      progress('half of it');
      await pacer.take(signal);
      progress('all of it');
      await pacer.take(signal);
      return { ok: true, output: 'worked' };
    }),
  ];
}
