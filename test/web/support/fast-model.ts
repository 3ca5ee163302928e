/** A model that says 2,000 deltas in a second, evenly: text, lists and code, as models write. */
import type { FakeOpenAi } from '../../support/fake-openai.ts';
import { gate, message } from '../../support/fake-openai-steps.ts';

export const DELTAS = 2_000;
const PER_MS = 2;

/** What the next request is answered. @returns the whole text, and how many milliseconds it took to say */
export function answerFast(fake: FakeOpenAi, ending: string): { text: string; said: Promise<number> } {
  const deltas = [...words(DELTAS - 1), `\n\n${ending}`];
  const gates = Array.from({ length: DELTAS / PER_MS }, gate);
  fake.answer(message(...gates.flatMap(({ passed }, at) => [passed, ...deltas.slice(at * PER_MS, (at + 1) * PER_MS)])));
  const said = fake.next().then(() => openEvenly(gates));
  return { text: deltas.join(''), said };
}

/** One each millisecond; where the clock was late, as many as are due. */
function openEvenly(gates: { open(): void }[]): Promise<number> {
  const began = performance.now();
  let opened = 0;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(gates.length, Math.floor(performance.now() - began));
      for (; opened < due; opened += 1) gates[opened]?.open();
      if (opened < gates.length) return;
      clearInterval(timer);
      resolve(performance.now() - began);
    }, 1);
  });
}

function words(count: number): string[] {
  const code = '```ts\nfor (const token of tokens) {\n  parser.accept(token);\n}\n```\n\n';
  const list = '- the **first** rule\n- `second` of them\n\n';
  const pattern = `${'The parser reads one token and then the next, until nothing is left. '.repeat(3)}\n\n${list}${code}`;
  const tokens = pattern.match(/\s*\S+|\s+$/g) ?? [];
  return Array.from({ length: count }, (_, index) => tokens[index % tokens.length] ?? '');
}
