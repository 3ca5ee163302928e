/** What can happen in the model, and how often; a schedule is plain data, so that it shrinks, prints and can be kept. */
import fc from 'fast-check';
import { ANSWERS } from './model-script.ts';

export interface Cast {
  role: 'controller' | 'observer';
  /** `end` reads the Session backwards when all is over. */
  from: 'start' | 'end';
  /** The storage answers later, and so does the clock after a lost connection. */
  late: boolean;
}

/** `who` is taken modulo the number of clients. */
export type Act =
  | { do: 'prompt'; who: number; answer: keyof typeof ANSWERS; blocks: number }
  /** The model, or the tool that runs, goes on by so many events. */
  | { do: 'step'; events: number }
  | { do: 'answer'; who: number; option: 'allow' | 'reject' | null }
  | { do: 'cancel'; who: number }
  | { do: 'configure'; who: number; mode: 'build' | 'plan' }
  | { do: 'cut'; who: number }
  /** Cut by the frame after so many others. */
  | { do: 'cutAfter'; who: number; frames: number; direction: 'in' | 'out' }
  | { do: 'halfOpen'; who: number }
  | { do: 'pause'; who: number }
  | { do: 'trickle'; who: number; frames: number }
  | { do: 'resume'; who: number }
  /** A new life of this client from what it stored. `killed`: it had no time to store more. */
  | { do: 'reload'; who: number; killed: boolean }
  /** The Session is closed and opened again on the same connection. */
  | { do: 'reopen'; who: number }
  /** The bus, which may, loses so many live deltas. */
  | { do: 'lose'; deltas: number }
  | { do: 'advance'; ms: number }
  /** The server dies with everything in its memory, and another one takes its Log. */
  | { do: 'restart' };

/** `turns` of the event loop pass before the next act; with none it comes in the same tick. */
export type Step = Act & { turns: number };

export interface Schedule {
  cast: Cast[];
  steps: Step[];
}

const who = fc.nat(3);

const cast: fc.Arbitrary<Cast> = fc.record({
  role: fc.constantFrom('controller', 'controller', 'controller', 'observer'),
  from: fc.constantFrom('start', 'start', 'end'),
  late: fc.boolean(),
});

const prompt = fc.record({
  do: fc.constant('prompt' as const),
  who,
  answer: fc.constantFrom(...(Object.keys(ANSWERS) as (keyof typeof ANSWERS)[])),
  blocks: fc.integer({ min: 1, max: 2 }),
});
const answer = fc.record({
  do: fc.constant('answer' as const),
  who,
  option: fc.constantFrom('allow' as const, 'allow' as const, 'reject' as const, null),
});
const cutAfter = fc.record({
  do: fc.constant('cutAfter' as const),
  who,
  frames: fc.integer({ min: 1, max: 12 }),
  direction: fc.constantFrom('in' as const, 'in' as const, 'out' as const),
});
const advance = fc.record({
  do: fc.constant('advance' as const),
  ms: fc.constantFrom(0, 100, 250, 250, 1_000, 16_000, 61_000),
});

/** Acts that need no more than somebody who does them. */
const by = <D extends 'cancel' | 'cut' | 'halfOpen' | 'pause' | 'resume' | 'reopen'>(name: D) =>
  fc.record({ do: fc.constant(name), who });

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: prompt },
  { weight: 14, arbitrary: fc.record({ do: fc.constant('step' as const), events: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 6, arbitrary: answer },
  { weight: 2, arbitrary: by('cancel') },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('configure' as const), who, mode: fc.constantFrom('build', 'plan') }),
  },
  { weight: 4, arbitrary: by('cut') },
  { weight: 4, arbitrary: cutAfter },
  { weight: 1, arbitrary: by('halfOpen') },
  { weight: 3, arbitrary: by('pause') },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('trickle' as const), who, frames: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 2, arbitrary: by('resume') },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('reload' as const), who, killed: fc.boolean() }) },
  { weight: 1, arbitrary: by('reopen') },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('lose' as const), deltas: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 8, arbitrary: advance },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

const step: fc.Arbitrary<Step> = fc
  .tuple(act, fc.constantFrom(0, 0, 1, 2, 5, 9))
  .map(([done, turns]) => ({ ...done, turns }));

/** Text, a draft of it, more text and a crash: too much to wait for by chance. */
const lostText: fc.Arbitrary<Step[]> = fc
  .tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 3 }))
  .map(([early, late]) => [
    { do: 'step', events: early, turns: 5 },
    { do: 'advance', ms: 250, turns: 5 },
    { do: 'step', events: late, turns: 5 },
    { do: 'restart', turns: 0 },
  ]);

const steps = fc
  .array(fc.oneof({ weight: 30, arbitrary: step.map((one) => [one]) }, { weight: 1, arbitrary: lostText }), {
    minLength: 1,
    maxLength: 40,
    size: 'max',
  })
  .map((parts) => parts.flat());

export const schedule: fc.Arbitrary<Schedule> = fc
  .record({
    cast: fc.array(cast, { minLength: 2, maxLength: 4 }),
    steps,
  })
  // Somebody must be able to begin.
  .map(({ cast: [first, ...rest], steps }) => ({
    cast: [{ role: 'controller' as const, from: 'start' as const, late: first?.late ?? false }, ...rest],
    steps,
  }));
