/** What every component may use of the page: its client, and the Sessions that are open. */
import { createContext, useContext } from 'react';
import type { Client } from './server/client.ts';
import type { Shown } from './state/shown.ts';

export interface Page {
  client: Client;
  shown: Shown;
}

export const PageContext = createContext<Page | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error('drawn outside of the page');
  return page;
}
