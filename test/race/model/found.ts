/** Schedules that once failed, by what went wrong, each in its shortest form. */
import type { Act, Cast, Schedule, Step } from './schedule.ts';

const watcher: Cast = { role: 'controller', from: 'start', late: false };

/** @param acts each with the event-loop turns after it; none where there is no number. */
function schedule(acts: (Act | [Act, number])[], cast: Cast[] = [watcher, watcher]): Schedule {
  const steps = acts.map((act): Step => (Array.isArray(act) ? { ...act[0], turns: act[1] } : { ...act, turns: 0 }));
  return { cast, steps };
}

const prompt = (who: number, answer: Extract<Act, { do: 'prompt' }>['answer']): Act => {
  return { do: 'prompt', who, answer, blocks: 1 };
};
const step = (events: number): Act => ({ do: 'step', events });
const advance = (ms: number): Act => ({ do: 'advance', ms });
const cut: Act = { do: 'cut', who: 0 };
const allow: Act = { do: 'answer', who: 0, option: 'allow' };
const cancel: Act = { do: 'cancel', who: 0 };
const restart: Act = { do: 'restart' };
const kill = (who: number): Act => ({ do: 'reload', who, killed: true });

/** A Turn that waits for a permission. */
const asking: (Act | [Act, number])[] = [
  [prompt(0, 'poke'), 5],
  [step(2), 9],
];

export const FOUND: Record<string, Schedule> = {
  'a prompt that is sent again while it is being recorded is refused, and runs': schedule([
    [prompt(0, 'text'), 2],
    cut,
  ]),
  'an allowance in the moment of a cancel decides a second time': schedule([...asking, allow, [cancel, 9]]),
  'a cancel in the moment of an allowance decides a second time': schedule([...asking, cancel, [allow, 9]]),
  'a second crash while a permission waits brings the server down': schedule([...asking, [restart, 9], [restart, 9]]),
  'a second crash after the deadline of a permission decides twice': schedule([
    ...asking,
    [restart, 1],
    advance(61_000),
    restart,
  ]),
  'a draft that is saved behind its message is shown beside it after a crash': schedule([
    [prompt(0, 'text'), 5],
    [step(17), 2],
    [advance(250), 1],
    restart,
  ]),
  'a prompt that was refused waits for ever in the next life of its client': schedule(
    [prompt(0, 'text'), [prompt(1, 'text'), 1], [advance(1_000), 5], kill(1)],
    [watcher, { ...watcher, late: true }],
  ),
  'pages of the history do not name the prompts in them': schedule(
    [[prompt(0, 'text'), 9], kill(1)],
    [watcher, { ...watcher, from: 'end' }],
  ),
  'a client that let go of the Session answers its question with no': schedule(
    [...asking, restart, { do: 'configure', who: 0, mode: 'build' }, advance(250), { do: 'reopen', who: 0 }],
    [{ ...watcher, late: true }, watcher],
  ),
  'a prompt of an earlier life is there twice once the history is read': schedule(
    [
      [prompt(1, 'text'), 2],
      [kill(1), 5],
    ],
    [watcher, { ...watcher, from: 'end' }],
  ),
};
