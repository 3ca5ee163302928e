/** `initialize`: must come first, once. Whatever version a client asks for, we answer the one we speak. */
import type { ClientCapabilities, InitializeResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { defineMethod } from '../method.ts';

const PROTOCOL_VERSION = 1;

/** Only what we act upon is checked; other members may be anything. */
const capabilitiesSchema = z.looseObject({
  fs: z.looseObject({ readTextFile: z.boolean().optional(), writeTextFile: z.boolean().optional() }).nullish(),
  terminal: z.boolean().nullish(),
});

export const initialize = defineMethod({
  name: 'initialize',
  kind: 'request',
  params: z.object({
    protocolVersion: z.number().int().min(0).max(65_535),
    clientCapabilities: capabilitiesSchema.nullish(),
  }),
  async handle({ clientCapabilities }, { agent, connection }): Promise<InitializeResponse> {
    connection.initialize((clientCapabilities ?? {}) as ClientCapabilities);
    const { models, sandbox } = agent.runtime.settings;
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: agent.name, version: agent.version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: false, audio: false, embeddedContext: false },
        mcpCapabilities: { http: false, sse: false },
        sessionCapabilities: { resume: {} },
        auth: { logout: {} },
        _meta: { pixir: { cursor: 1, attach: {}, history: {}, promptKey: {}, sandbox: await sandbox?.() } },
      },
      authMethods: [],
      _meta: { pixir: { models: models.map(({ id, name }, index) => ({ id, name, default: index === 0 })) } },
    };
  },
});
