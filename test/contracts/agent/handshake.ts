import assert from 'node:assert/strict';
import { RpcError } from '../../support/wire-client.ts';
import { type On, rejects } from './stage.ts';

export function handshake(on: On): void {
  on('[A01] [A02] [ACP1] initialize says what is true, once', {}, async ({ client }) => {
    const { result } = await client.frame(({ id }) => id === 1);
    assert.equal(result?.protocolVersion, 1);
    assert.deepEqual(result?.agentCapabilities, {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: {
        resume: {},
        list: {},
        close: {},
        delete: {},
        additionalDirectories: {},
        fork: {},
        title: {},
      },
      auth: { logout: {} },
      _meta: {
        pixir: {
          cursor: 1,
          attach: {},
          history: {},
          permissions: {},
          promptKey: {},
          sessions: { watch: {}, info: {} },
          directories: {},
          files: {},
          log: { verify: {} },
        },
      },
    });
    const { pixir } = (result?._meta ?? {}) as { pixir?: Record<string, unknown> };
    const { configOptions: _, ...said } = pixir ?? {};
    assert.deepEqual(said, {
      models: [
        { id: 'm1', name: 'Model 1', default: true },
        { id: 'm2', name: 'Model 2', default: false },
      ],
    });
    await rejects(client.initialize(), -32600);
  });

  on(
    '[A04] [ACP2] authenticate and logout change nothing, however often; an unknown method is refused',
    {},
    async (stage) => {
      const { client, w } = stage;
      for (let n = 0; n < 2; n++) {
        assert.deepEqual(await client.request('authenticate', { methodId: 'login' }), {});
        assert.deepEqual(await client.request('logout', {}), {});
      }
      for (const methodId of ['', 'x', 'LOGIN', 'canary'])
        await assert.rejects(client.request('authenticate', { methodId }), (error) => {
          assert.ok(error instanceof RpcError && error.code === -32602 && !JSON.stringify(error).includes('canary'));
          return true;
        });
      await rejects(client.request('authenticate', {}), -32602);
      await client.newSession(w.dir);
    },
  );

  on('[LOGIN1] a terminal login is offered to who can show a terminal, and to nobody else', {}, async (stage) => {
    const offered = async (capabilities: unknown) => {
      const client = await stage.connect(capabilities);
      return (await client.frame(({ id }) => id === 1)).result?.authMethods;
    };
    for (const capabilities of [{}, { terminal: true }, { auth: null }, { auth: {} }, { auth: { terminal: false } }])
      assert.deepEqual(await offered(capabilities), []);
    assert.deepEqual(await offered({ _meta: { 'terminal-auth': 'true' } }), []);
    for (const capabilities of [{ auth: { terminal: true } }, { _meta: { 'terminal-auth': true } }])
      assert.deepEqual(await offered(capabilities), [
        { type: 'terminal', id: 'login', name: 'Log in', args: ['login'] },
      ]);
  });

  on('[A19] [A32] [ACP3] a fault is answered and the next request works', {}, async ({ client }) => {
    await rejects(client.request('session/archive', {}), -32601);
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
