import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentContract } from '../contracts/agent.ts';
import { connectInMemory } from '../support/memory-wire.ts';
import { RpcError } from '../support/wire-client.ts';
import { world } from '../support/world.ts';

agentContract('in memory', async (open, defer) => {
  const { client } = connectInMemory(open);
  defer(() => client.close());
  return client;
});

test('[ACP10] before initialize every request is refused and every notification ignored', async () => {
  await using w = await world();
  const { client } = w.connect();
  client.notify('session/cancel', { sessionId: 'x' });
  await assert.rejects(
    client.request('session/new', { cwd: w.dir, mcpServers: [] }),
    (error) => error instanceof RpcError && error.code === -32600,
  );
  for (const protocolVersion of [undefined, '1', 1.5, -1]) {
    await assert.rejects(
      client.request('initialize', { protocolVersion }),
      (error) => error instanceof RpcError && error.code === -32602,
    );
  }
  assert.equal((await client.request('initialize', { protocolVersion: 65_535 })).protocolVersion, 1);
});

test('[ATT1] a version of cursors that we do not know, or no capability at all, means none', async () => {
  for (const clientCapabilities of [
    undefined,
    null,
    {},
    { _meta: { pixir: { cursor: 2 } } },
    { _meta: { pixir: 'x' } },
  ]) {
    await using w = await world({
      script: [
        [
          { type: 'message', text: 'hi' },
          { type: 'finished', reason: 'stop', usage: null },
        ],
      ],
    });
    const { client } = w.connect();
    await client.request('initialize', { protocolVersion: 1, clientCapabilities });
    await client.prompt(await client.newSession(w.dir), 'hi');
    assert.doesNotMatch(JSON.stringify(client.frames), /"cursor":"/);
  }
});
