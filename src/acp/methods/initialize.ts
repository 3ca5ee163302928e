/** `initialize`: must come first, once. Whatever version a client asks for, we answer the one we speak. */
import type { ClientCapabilities, InitializeResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { newSessionOptions } from '../config-options.ts';
import { defineMethod } from '../method.ts';

const PROTOCOL_VERSION = 1;
/** Capabilities that the stable schema has no word for yet. */
const UNSTABLE = { fork: {}, title: {} };
/** What we add to the protocol. */
const EXTENSIONS = {
  cursor: 1,
  attach: {},
  history: {},
  permissions: {},
  promptKey: {},
  sessions: { watch: {}, info: {} },
  directories: {},
  files: {},
  log: { verify: {} },
};

/** Only what we act upon is checked; other members may be anything. */
const capabilitiesSchema = z.looseObject({
  fs: z.looseObject({ readTextFile: z.boolean().optional(), writeTextFile: z.boolean().optional() }).nullish(),
  terminal: z.boolean().nullish(),
  auth: z.looseObject({ terminal: z.boolean().nullish() }).nullish(),
  _meta: z.looseObject({}).nullish(),
});

/** Older clients, and the registry's own check, say it in `_meta`. */
function showsTerminals(capabilities: z.infer<typeof capabilitiesSchema> | null | undefined): boolean {
  return capabilities?.auth?.terminal === true || capabilities?._meta?.['terminal-auth'] === true;
}

export const initialize = defineMethod({
  name: 'initialize',
  kind: 'request',
  params: z.object({
    protocolVersion: z.number().int().min(0).max(65_535),
    clientCapabilities: capabilitiesSchema.nullish(),
  }),
  async handle({ clientCapabilities }, { agent, connection }): Promise<InitializeResponse> {
    connection.initialize((clientCapabilities ?? {}) as ClientCapabilities);
    const { settings } = agent.runtime;
    const { models, sandbox } = settings;
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: agent.name, version: agent.version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { resume: {}, list: {}, close: {}, delete: {}, additionalDirectories: {}, ...UNSTABLE },
        auth: { logout: {} },
        _meta: { pixir: { ...EXTENSIONS, sandbox: await sandbox?.() } },
      },
      authMethods: showsTerminals(clientCapabilities) ? agent.authMethods : [],
      _meta: {
        pixir: {
          models: models.map(({ id, name }, index) => ({ id, name, default: index === 0 })),
          configOptions: newSessionOptions(settings),
        },
      },
    };
  },
});
