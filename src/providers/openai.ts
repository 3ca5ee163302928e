/** The Responses API of OpenAI and of the servers that speak it. It stores nothing at the server. */
import type { Provider } from '../core/provider.ts';
import { createHttpProvider } from './openai-call.ts';
import { responsesBody } from './openai-input.ts';
import { responsesReader } from './openai-stream.ts';
import type { ProviderSettings } from './settings.ts';

export function createOpenAi(settings: ProviderSettings): Provider {
  return createHttpProvider(settings, {
    // Models without reasoning refuse `include`; organisations that OpenAI has not verified may not ask for summaries.
    optional: ['include', 'reasoning.summary', 'prompt_cache_key'],
    send: (client, request, without) => client.responses.create(responsesBody(request, without)),
    reader: (_request, apiKey) => responsesReader(apiKey),
  });
}
