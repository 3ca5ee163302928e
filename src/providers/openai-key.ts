/**
 * Asks the model server whether it takes a key, by the cheapest request there is: the list of its models. The key goes
 * where calls go and nowhere else.
 */
import * as z from 'zod';
import { asCoreError, createClient } from './openai-call.ts';
import { openWire } from './openai-wire.ts';
import { endpointOf, type ProviderSettings } from './settings.ts';

/** A page that answers everything with 200 has accepted nothing. */
const modelsSchema = z.looseObject({ data: z.array(z.unknown()) });

/** @throws CoreError when the server does not accept the key, cannot be reached, or does not speak this API. */
export async function checkKey(settings: ProviderSettings, signal: AbortSignal): Promise<void> {
  const endpoint = endpointOf(settings);
  const own = new AbortController();
  const stop = AbortSignal.any([signal, own.signal]);
  const wire = openWire(endpoint, stop, (reason) => own.abort(reason), 'application/json');
  try {
    const client = await createClient(endpoint, wire.fetch);
    modelsSchema.parse(await client.get('/models'));
  } catch (thrown) {
    stop.throwIfAborted();
    throw asCoreError(thrown, endpoint);
  } finally {
    own.abort();
  }
}
