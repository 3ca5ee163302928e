/**
 * `authenticate`: nothing to do. The connection was admitted before, and a login in a terminal has happened there; what
 * it stored is the server's, never this connection's.
 */
import type { AuthenticateResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { invalidParams } from '../errors.ts';
import { defineMethod } from '../method.ts';

export const authenticate = defineMethod({
  name: 'authenticate',
  kind: 'request',
  params: z.object({ methodId: z.string() }),
  handle({ methodId }, { agent }): AuthenticateResponse {
    if (!agent.authMethods.some(({ id }) => id === methodId))
      throw invalidParams('there is no such authentication method', { field: 'methodId' });
    return {};
  },
});
