/**
 * The provider without a model: it plays a script, or the demonstration when it has none. Embedded default and test
 * instrument in one; it never touches the network and never draws lots.
 */
import { CoreError } from '../core/errors.ts';
import type { Provider, ProviderEvent, ProviderRequest } from '../core/provider.ts';
import type { ScriptStep } from './script.ts';
import { demonstrate } from './scripted-demo.ts';
import { pause, unlessAborted } from './wait.ts';

/** One list of steps for each call, or a function that answers every call. */
export type Script =
  | readonly (readonly ScriptStep[])[]
  | ((request: ProviderRequest, signal: AbortSignal) => AsyncIterable<ProviderEvent>);

interface ScriptedOptions {
  script?: Script | undefined;
  /** Milliseconds between two words. */
  pace?: number | undefined;
}

export interface ScriptedProvider extends Provider {
  /** Lets every call pass that waits, or will wait, at this gate. */
  open(gate: string): void;
  /** What was asked of a script so far, oldest first. */
  readonly requests: readonly ProviderRequest[];
}

export function createScripted({ script, pace = 0 }: ScriptedOptions = {}): ScriptedProvider {
  const requests: ProviderRequest[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();

  function gate(name: string): PromiseWithResolvers<void> {
    const known = gates.get(name) ?? Promise.withResolvers<void>();
    gates.set(name, known);
    return known;
  }

  async function* play(steps: readonly ScriptStep[], signal: AbortSignal): AsyncGenerator<ProviderEvent> {
    for (const step of steps) {
      signal.throwIfAborted();
      if (step.type === 'fail') throw step.error;
      if (step.type === 'hang') await unlessAborted(new Promise(() => {}), signal);
      else if (step.type === 'wait') {
        await unlessAborted(typeof step.gate === 'string' ? gate(step.gate).promise : step.gate, signal);
      } else {
        if (step.type === 'delta' && pace > 0) await pause(pace, signal);
        yield step;
      }
    }
  }

  return {
    requests,
    open: (name) => gate(name).resolve(),
    stream(request, signal) {
      if (!script) return keepAwake(play(demonstrate(request), signal));
      if (typeof script === 'function') return script(request, signal);
      const steps = script[requests.length] ?? [{ type: 'fail', error: exhausted(requests.length) }];
      // The history is the Session's own array and goes on growing.
      requests.push({ ...request, history: [...request.history] });
      return play(steps, signal);
    },
  };
}

function exhausted(calls: number): CoreError {
  return new CoreError('invalid_response', `the script has only ${calls} answers`);
}

/** A waiting promise alone does not keep a process alive; a call to a model that takes its time would. */
async function* keepAwake(events: AsyncIterable<ProviderEvent>): AsyncGenerator<ProviderEvent> {
  const awake = setInterval(() => {}, 2 ** 31 - 1);
  try {
    yield* events;
  } finally {
    clearInterval(awake);
  }
}
