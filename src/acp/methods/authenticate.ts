/** `authenticate`: nothing to do. The connection was admitted before, and model credentials are not the client's. */
import type { AuthenticateResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { defineMethod } from '../method.ts';

export const authenticate = defineMethod({
  name: 'authenticate',
  kind: 'request',
  params: z.object({ methodId: z.string() }),
  handle: (): AuthenticateResponse => ({}),
});
