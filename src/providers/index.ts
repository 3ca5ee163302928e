/**
 * The providers, one line each. What this table imports is read at every start, so no provider loads its library
 * before the first call.
 */
import type { Provider } from '../core/provider.ts';
import { createOpenAi } from './openai.ts';
import { createOpenAiChat } from './openai-chat.ts';
import { createScripted } from './scripted.ts';
import type { ProviderSettings } from './settings.ts';

export interface ProviderEntry {
  id: ProviderId;
  /** For people. */
  name: string;
  /** What clients are offered where nothing is configured; the first is the default. */
  defaultModels: readonly string[];
  /** Tokens that fit into one call, or null when it is not known. */
  contextWindow(model: string): number | null;
  create(settings: ProviderSettings): Provider;
}

export type ProviderId = 'openai' | 'openai-chat' | 'scripted';

const MODELS = [
  'gpt-5.5',
  'gpt-5.6-sol',
  'gpt-5.6',
  'gpt-5.4',
  'gpt-5.4-mini',
  'gpt-5.3-codex',
  'gpt-5.3-codex-spark',
  'gpt-5.2',
];
const CHAT_MODELS = MODELS.filter((model) => !model.includes('codex'));

const WINDOWS: ReadonlyMap<string, number> = new Map([
  ['gpt-5.5', 272_000],
  ['gpt-5.4', 272_000],
  ['gpt-5.4-mini', 272_000],
  ['gpt-5.3-codex', 272_000],
  ['gpt-5.3-codex-spark', 128_000],
  ['gpt-5.2', 272_000],
]);
const openAiWindow = (model: string) => WINDOWS.get(model) ?? null;

// biome-ignore format: one line per provider
export const PROVIDERS: Record<ProviderId, ProviderEntry> = {
  openai: { id: 'openai', name: 'OpenAI (Responses API)', defaultModels: MODELS, contextWindow: openAiWindow, create: createOpenAi },
  'openai-chat': { id: 'openai-chat', name: 'OpenAI compatible (Chat Completions)', defaultModels: CHAT_MODELS, contextWindow: openAiWindow, create: createOpenAiChat },
  scripted: { id: 'scripted', name: 'Scripted demonstration (no model)', defaultModels: ['scripted-demo'], contextWindow: () => null, create: createScripted },
};
