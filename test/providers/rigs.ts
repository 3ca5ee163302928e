/** The providers under test, each with the model it talks to. */
import { CoreError } from '../../src/core/errors.ts';
import type { Provider } from '../../src/core/provider.ts';
import { PROVIDERS } from '../../src/providers/index.ts';
import { finish, type ScriptStep } from '../../src/providers/script.ts';
import { createScripted } from '../../src/providers/scripted.ts';
import type { ProviderSettings } from '../../src/providers/settings.ts';
import type { ProviderRig } from '../contracts/provider.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import type { ModelStep } from '../support/fake-openai-steps.ts';

export const HTTP_DIALECTS = ['openai', 'openai-chat'] as const;
export type HttpDialect = (typeof HTTP_DIALECTS)[number];

export const API_KEY = 'sk-canary-0123456789abcdef';

export interface HttpRig extends ProviderRig {
  fake: FakeOpenAi;
}

/** A provider that talks to the fake server over HTTP. It waits before no repetition unless told to. */
export async function httpRig(dialect: HttpDialect, settings: ProviderSettings = {}): Promise<HttpRig> {
  const fake = await startFakeOpenAi();
  const defaults = { baseUrl: fake.baseUrl, apiKey: API_KEY, retryDelayMs: () => 0 };
  return {
    fake,
    provider: PROVIDERS[dialect].create({ ...defaults, ...settings }),
    will: fake.answer,
    abandoned: () => fake.requests.at(-1)?.abandoned ?? null,
    [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose](),
  };
}

export async function scriptedRig(): Promise<ProviderRig> {
  const script: ScriptStep[][] = [];
  const provider: Provider = createScripted({ script });
  return {
    provider,
    will: (...steps) => script.push(scriptOf(steps)),
    abandoned: () => null,
    [Symbol.asyncDispose]: async () => {},
  };
}

function scriptOf(steps: ModelStep[]): ScriptStep[] {
  const refused = steps.some((step) => step.type === 'refusal');
  const incomplete = steps.find((step) => step.type === 'incomplete');
  const cut = incomplete?.reason === 'max_output_tokens' ? 'max_tokens' : 'stop';
  const reason = refused || incomplete?.reason === 'content_filter' ? 'refusal' : cut;
  const usage = steps.find((step) => step.type === 'usage')?.usage ?? null;
  return [...steps.flatMap(stepsOf), { ...finish(reason), usage } as ScriptStep];
}

function stepsOf(step: ModelStep): ScriptStep[] {
  switch (step.type) {
    case 'message':
    case 'refusal':
    case 'thought': {
      const kind = step.type === 'thought' ? 'thought' : 'message';
      const text = step.deltas.filter((delta) => typeof delta === 'string').join('');
      const item: ScriptStep =
        kind === 'message'
          ? { type: 'message', text }
          : { type: 'reasoning', item: null, dialect: 'scripted', summary: text };
      const said = step.deltas.map((delta): ScriptStep => {
        return typeof delta === 'string' ? { type: 'delta', kind, text: delta } : { type: 'wait', gate: delta };
      });
      return [...said, item];
    }
    case 'call': {
      const { callId, name, args } = step;
      return [{ type: 'tool_call', callId, name, args }];
    }
    case 'hold':
      return [{ type: 'wait', gate: step.until }];
    case 'stall':
      return [{ type: 'hang' }];
    case 'cut':
    case 'end':
      return [{ type: 'fail', error: new CoreError('network', 'the script breaks off') }];
    case 'garbage':
      return [{ type: 'fail', error: new CoreError('invalid_response', 'the script makes no sense') }];
    case 'error':
      return [{ type: 'fail', error: new CoreError('provider_http_error', step.message.replace('\n', ' ')) }];
    case 'incomplete':
    case 'usage':
      return [];
  }
}
