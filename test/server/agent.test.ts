import type { OpenPeer } from '../../src/acp/transport.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { createApp } from '../../src/server/app.ts';
import { agentContract } from '../contracts/agent.ts';
import { APP_LIMITS } from '../support/app-limits.ts';
import { connectHttp } from '../support/http-wire.ts';
import { connectWebSocket } from '../support/ws-wire.ts';

const token = 'a-token-for-tests';
const silent = { debug() {}, info() {}, warn() {}, error() {} };

async function listen(openPeer: OpenPeer, defer: (end: () => unknown) => void): Promise<string> {
  const app = await createApp({
    limits: APP_LIMITS,
    openPeer,
    authenticate: (candidate) => (candidate === token ? { principal: LOCAL } : undefined),
    readiness: () => true,
    logger: silent,
  });
  defer(() => app.close());
  return app.listen({ port: 0 });
}

agentContract('WebSocket', async (openPeer, defer) => {
  const { client, socket } = await connectWebSocket({ url: await listen(openPeer, defer), token });
  defer(() => socket.terminate());
  return client;
});

agentContract('HTTP', async (openPeer, defer) => {
  const { client, close } = connectHttp({ url: await listen(openPeer, defer), token });
  defer(close);
  return client;
});
