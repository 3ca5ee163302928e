/**
 * How a Session begins: it is made, made to be as it was wanted, and only then shown. One that cannot be made to ask first
 * is deleted: it must never be taken for one that asks.
 */
import type { SessionConfigOption } from '@agentclientprotocol/sdk';
import type { Client } from '../server/client.ts';

/** Option by id to its value. */
export type Wanted = Readonly<Record<string, string>>;

const FIRST = 'permission_mode';

/** What the server would choose, but asking before anything is done, where it lets us. */
export function carefulChoice(options: readonly SessionConfigOption[]): Wanted {
  const wanted: Record<string, string> = {};
  for (const option of options)
    if (option.type === 'select') {
      const offersAsk = option.id === FIRST && choicesOf(option).some(({ value }) => value === 'ask');
      wanted[option.id] = offersAsk ? 'ask' : option.currentValue;
    }
  return wanted;
}

type Select = Extract<SessionConfigOption, { type: 'select' }>;

/** All of them, whatever group they are in. */
function choicesOf({ options }: Select) {
  return options.flatMap((one) => ('options' in one ? one.options : [one]));
}

/** @throws what the server said. Then there is no such Session. */
export async function createSession(client: Pick<Client, 'request'>, cwd: string, wanted: Wanted): Promise<string> {
  const { sessionId, configOptions } = await client.request('session/new', { cwd, mcpServers: [] });
  try {
    const has = Object.fromEntries((configOptions ?? []).map(({ id, currentValue }) => [id, currentValue]));
    const differing = Object.entries(wanted).filter(([id, value]) => has[id] !== value);
    // From here on it asks; the rest may take its time.
    differing.sort(([one], [other]) => Number(other === FIRST) - Number(one === FIRST));
    for (const [configId, value] of differing)
      await client.request('session/set_config_option', { sessionId, configId, value });
  } catch (error) {
    await client.request('session/delete', { sessionId }).catch((cause: unknown) => {
      throw new Error('It could not be set up, nor deleted: it is in the list, and may act without asking', { cause });
    });
    throw error;
  }
  return sessionId;
}

/** What the server offers for new Sessions; nothing before the first connection. */
export function offeredOptions(client: Client): readonly SessionConfigOption[] {
  const said = client.server?._meta?.pixir as { configOptions?: SessionConfigOption[] } | undefined;
  return said?.configOptions ?? [];
}
