/** The Chat Completions API, for the many servers that speak it. It sends only what all of them accept. */
import type { Provider } from '../core/provider.ts';
import { createHttpProvider } from './openai-call.ts';
import { chatBody } from './openai-chat-input.ts';
import { chatReader } from './openai-chat-stream.ts';
import type { ProviderSettings } from './settings.ts';

export function createOpenAiChat(settings: ProviderSettings): Provider {
  return createHttpProvider(settings, {
    optional: ['stream_options'],
    send: (client, request, without) => client.chat.completions.create(chatBody(request, without)),
    reader: chatReader,
  });
}
