/** What a Turn costs beside the model, and how fast an answer streams through. */
import { type Contender, type Group, inRounds, type MeasuredTurn, TRANSPORTS, withContenders } from './context.ts';
import { quantile } from './measure.ts';
import { DELTA_LENGTH } from './model-script.ts';
import type { Row } from './report.ts';

type Measured = ReadonlyMap<Contender, MeasuredTurn[]>;

/** Both agents over one transport, side by side. */
function sideBySide(measured: Measured, transport: string, figure: (turns: MeasuredTurn[]) => number) {
  const of = (name: string) => {
    const found = [...measured].find(([contender]) => contender.name === name && contender.transport === transport);
    return figure(found?.[1] ?? []);
  };
  return { floor: of('sdk'), ours: of('ours') };
}

const medianOf = (part: 'overhead' | 'before' | 'after') => (turns: MeasuredTurn[]) =>
  quantile(turns.map((turn) => turn[part]));

/** The SDK's agent in the same run is the aim: it does less, so whoever is below it wastes nothing. */
function turnRows(measured: Measured, transport: string, name: string): Row[] {
  const { floor, ours } = sideBySide(measured, transport, medianOf('overhead'));
  const slowest = sideBySide(measured, transport, (turns) =>
    quantile(
      turns.map((turn) => turn.overhead),
      0.99,
    ),
  );
  return [
    { name: `${name}, ${transport}`, unit: 'ms', floor, ours, aim: { value: floor, better: 'lower' } },
    { name: '  of it before the model', unit: 'ms', ...sideBySide(measured, transport, medianOf('before')) },
    { name: '  of it after the model', unit: 'ms', ...sideBySide(measured, transport, medianOf('after')) },
    { name: '  p99', unit: 'ms', ...slowest },
  ];
}

export const turns: Group = (context) =>
  withContenders(context, async (all) => {
    const measured = await inRounds(context, all, { prompt: 'one', turns: 30, rounds: 8 });
    return {
      title: 'Turn of one delta: overhead',
      floor: 'SDK agent',
      rows: TRANSPORTS.flatMap((transport) => turnRows(measured, transport, 'overhead')),
    };
  });

export const read: Group = (context) =>
  withContenders(context, async (all) => {
    const measured = await inRounds(context, all, { prompt: 'read note.txt', turns: 25, rounds: 8 });
    return {
      title: 'Turn with one read call: overhead',
      floor: 'SDK agent',
      rows: TRANSPORTS.flatMap((transport) => turnRows(measured, transport, 'overhead')),
    };
  });

const DELTAS = 2_000;
const RATE_AIMS = { WebSocket: 120_000, stdio: 150_000 };

export const deltas: Group = (context) =>
  withContenders(context, async (all) => {
    const whole = await inRounds(context, all, { prompt: `deltas ${DELTAS}`, turns: 5, rounds: 6 });
    const chunked = await inRounds(context, all, { prompt: `chunks ${DELTAS}`, turns: 5, rounds: 4 });
    return {
      title: `${DELTAS} deltas in one answer`,
      floor: 'SDK agent',
      rows: TRANSPORTS.flatMap((transport): Row[] => [
        {
          name: transport,
          unit: 'deltas/s',
          ...sideBySide(whole, transport, rate),
          aim: { value: RATE_AIMS[transport], better: 'higher' },
          note: frames(whole, transport),
        },
        {
          name: '  each in an HTTP chunk of its own',
          unit: 'deltas/s',
          ...sideBySide(chunked, transport, rate),
          note: frames(chunked, transport),
        },
      ]),
    };
  });

/** Of the whole Turn, prompt to answer: what came is counted by its text, however it was put together on the way. */
function rate(measured: MeasuredTurn[]): number {
  return quantile(
    measured.map(({ characters, began, ended }) => (characters / DELTA_LENGTH / (ended - began)) * 1_000),
  );
}

function frames(measured: Measured, transport: string): string {
  const { floor, ours } = sideBySide(measured, transport, (all) => quantile(all.map(({ chunks }) => chunks)));
  return `frames: SDK agent ${floor}, ours ${ours}`;
}
