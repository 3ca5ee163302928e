/** The page's one client. It keeps the prompt that is not answered yet, so that a reload sends it again, once; transcripts come from the server. */
import { connect } from '../../../src/client/connect.ts';
import { createStore } from '../state/store.ts';
import { admitted, notAdmitted, signIns, ticket } from './account.ts';
import { atServer } from './home.ts';
import { promptStorage } from './prompt-storage.ts';
import { tappedPorts } from './wire-tap.ts';

export type Client = ReturnType<typeof connect>;

/** How the connection is. */
export const connection = createStore<Client['state']>({ kind: 'reconnecting' });

export function openClient(): Client {
  let hasBeenOpen = false;
  let triedAfter = 0;
  const ports = {
    ...tappedPorts,
    connect(...[address, on]: Parameters<typeof tappedPorts.connect>) {
      triedAfter = signIns();
      return tappedPorts.connect(address, on);
    },
  };
  const client = connect(atServer('acp').href, { storage: promptStorage, ports, ...(ticket && { ticket }) });

  client.onState((state) => {
    connection.set(state);
    if (state.kind === 'live' || state.kind === 'catching_up') {
      hasBeenOpen = true;
      admitted();
    } else if (state.kind === 'refused' && state.reason === 'credential') {
      // Somebody has signed in since it was asked.
      if (triedAfter < signIns()) queueMicrotask(() => client.retry());
      else notAdmitted(hasBeenOpen);
    }
  });
  return client;
}
