/** Every requirement, in the order in which they are asked: what others rest on comes first. */
import type { Requirement } from '../requirement.ts';
import { auth } from './auth.ts';
import { cancel } from './cancel.ts';
import { clientServices } from './client-services.ts';
import { initialize } from './initialize.ts';
import { jsonrpc } from './jsonrpc.ts';
import { list } from './list.ts';
import { load } from './load.ts';
import { mcp } from './mcp.ts';
import { mode } from './mode.ts';
import { permission } from './permission.ts';
import { prompt } from './prompt.ts';
import { session } from './session.ts';
import { shutdown } from './shutdown.ts';
import { transport } from './transport.ts';
import { update } from './update.ts';
import { websocket } from './websocket.ts';

export const REQUIREMENTS: readonly Requirement[] = [
  ...initialize,
  ...jsonrpc,
  ...transport,
  ...websocket,
  ...auth,
  ...session,
  ...mcp,
  ...mode,
  ...prompt,
  ...cancel,
  ...permission,
  ...load,
  ...list,
  ...update,
  ...clientServices,
  ...shutdown,
];
