import { LOCAL } from '../../src/core/principal.ts';
import { createApp } from '../../src/server/app.ts';
import { agentContract } from '../contracts/agent.ts';
import { connectWebSocket } from '../support/ws-wire.ts';

const token = 'a-token-for-tests';
const silent = { debug() {}, info() {}, warn() {}, error() {} };

agentContract('WebSocket', async (openPeer, defer) => {
  const app = await createApp({
    openPeer,
    authenticate: (candidate) => (candidate === token ? { principal: LOCAL } : undefined),
    readiness: () => true,
    logger: silent,
  });
  defer(() => app.close());
  const url = await app.listen({ port: 0 });
  const { client, socket } = await connectWebSocket({ url, token });
  defer(() => socket.terminate());
  return client;
});
