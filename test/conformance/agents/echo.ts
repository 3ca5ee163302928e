/** The smallest sound agent on the official SDK: it repeats what it is told, and waits when it is told to. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';

/** The Sessions, each with what ends its Turn, if one runs. */
const sessions = new Map<string, AbortController | undefined>();

const echo = acp
  .agent({ name: 'echo' })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentCapabilities: {},
    agentInfo: { name: 'echo', version: '1.0.0' },
  }))
  .onRequest(acp.methods.agent.session.new, () => {
    const sessionId = randomUUID();
    sessions.set(sessionId, undefined);
    return { sessionId };
  })
  .onRequest(acp.methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    if (!sessions.has(sessionId)) throw acp.RequestError.sessionNotFound(sessionId);
    if (sessions.get(sessionId)) throw acp.RequestError.invalidRequest();
    const turn = new AbortController();
    sessions.set(sessionId, turn);
    for (const content of prompt) {
      const update = { sessionUpdate: 'agent_message_chunk', content } as const;
      await client.notify(acp.methods.client.session.update, { sessionId, update });
    }
    const waits = prompt.some((block) => block.type === 'text' && block.text === 'busy');
    if (waits && !turn.signal.aborted) await once(turn.signal, 'abort');
    sessions.set(sessionId, undefined);
    return { stopReason: turn.signal.aborted ? 'cancelled' : 'end_turn' };
  })
  .onNotification(acp.methods.agent.session.cancel, ({ params }) => sessions.get(params.sessionId)?.abort());

const output = Writable.toWeb(process.stdout) as WritableStream<Uint8Array>;
echo.connect(acp.ndJsonStream(output, Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>));
