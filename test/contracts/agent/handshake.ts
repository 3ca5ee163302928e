import assert from 'node:assert/strict';
import { type On, rejects } from './stage.ts';

export function handshake(on: On): void {
  on('[A01] [A02] [ACP1] initialize says what is true, once', {}, async ({ client }) => {
    const { result } = await client.frame(({ id }) => id === 1);
    assert.equal(result?.protocolVersion, 1);
    assert.deepEqual(result?.agentCapabilities, {
      loadSession: true,
      promptCapabilities: { image: false, audio: false, embeddedContext: false },
      mcpCapabilities: { http: false, sse: false },
      sessionCapabilities: { resume: {} },
      auth: { logout: {} },
      _meta: { pixir: { cursor: 1, attach: {}, history: {}, promptKey: {} } },
    });
    assert.deepEqual(result?._meta, {
      pixir: {
        models: [
          { id: 'm1', name: 'Model 1', default: true },
          { id: 'm2', name: 'Model 2', default: false },
        ],
      },
    });
    await rejects(client.initialize(), -32600);
  });

  on('[A04] [ACP2] authenticate and logout have nothing to do', {}, async ({ client }) => {
    assert.deepEqual(await client.request('authenticate', { methodId: 'x' }), {});
    assert.deepEqual(await client.request('logout', {}), {});
  });

  on('[A19] [A32] [ACP3] a fault is answered and the next request works', {}, async ({ client }) => {
    await rejects(client.request('session/fork', {}), -32601);
    await rejects(client.request('_vendor/x', {}), -32601);
    client.raw('{broken');
    client.raw('[]');
    client.notify('_vendor/x', {});
    client.notify('session/cancel', { sessionId: 7 });
    await client.frame(({ id, error }) => id === null && error?.code === -32700);
    await client.frame(({ id, error }) => id === null && error?.code === -32600);
    assert.deepEqual(await client.request('logout', {}), {});
    await rejects(client.request('session/new', []), -32602);
  });

  on('[ACP4] request ids come back with their value and type', {}, async ({ client }) => {
    for (const id of [0, '', 'abc', -1, 9007199254740991, 1.5]) {
      void client.request('logout', {}, id);
      assert.deepEqual((await client.frame((frame) => frame.id === id)).result, {});
    }
  });
}
