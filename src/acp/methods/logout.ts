/** `logout`: nothing to do, for the same reason as `authenticate`. */
import type { LogoutResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { defineMethod } from '../method.ts';

export const logout = defineMethod({
  name: 'logout',
  kind: 'request',
  params: z.object({}),
  handle: (): LogoutResponse => ({}),
});
