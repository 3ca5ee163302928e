import assert from 'node:assert/strict';
import { finish, say } from '../../../src/providers/script.ts';
import type { Frame } from '../../support/schema.ts';
import type { WireClient } from '../../support/wire-client.ts';
import { ask, type On, selected } from './stage.ts';

const cursorIn = (result: Record<string, unknown>) =>
  (result._meta as { pixir?: { cursor?: string } } | undefined)?.pixir?.cursor;
const states = (client: WireClient) => client.frames.filter(({ method }) => method === '_pixir/session/state');
const caughtUp = ({ method }: Frame) => method === '_pixir/session/caught_up';

export function positions(on: On): void {
  const hello = { script: [[...say('Hello there.'), finish()]] };

  on('[ATT13] new, load and resume say where a client with cursors is', hello, async ({ w, client, withCursors }) => {
    const setup = { cwd: w.dir, mcpServers: [] };
    const reader = await withCursors();
    const made = await reader.request('session/new', setup);
    const { sessionId } = made as { sessionId: string };
    await client.prompt(sessionId, 'hi');
    const head = (await w.log.session(sessionId))?.head;
    const end = `p1.${head?.epoch}.${head?.seq}.${head?.chk}`;
    for (const method of ['session/load', 'session/resume']) {
      assert.equal(cursorIn(await reader.request(method, { sessionId, ...setup })), end, method);
      assert.equal(cursorIn(await client.request(method, { sessionId, ...setup })), undefined, 'unasked');
    }
    const begun = await withCursors();
    await begun.request('_pixir/session/attach', { sessionId, cursor: cursorIn(made) });
    await begun.frame(caughtUp);
    assert.equal(begun.text(), 'Hello there.', 'everything since session/new');
  });

  on('[ATT14] whoever attaches is told when Turns begin and end, in their place', hello, async (stage) => {
    const { w, client, withCursors } = stage;
    const sessionId = await client.newSession(w.dir);
    const reader = await withCursors();
    await reader.request('_pixir/session/attach', { sessionId });
    await client.prompt(sessionId, 'hi', { pixir: { promptKey: 'k' } });
    await reader.frame(({ params }) => params?.state === 'idle' && params.turn !== undefined);
    const [started, finished] = states(reader).map(({ params }) => params);
    const turn = { turnId: (started?.turn as { turnId: string } | undefined)?.turnId };
    assert.deepEqual(started, {
      sessionId,
      cursor: started?.cursor,
      state: 'running',
      turn: { ...turn, promptKey: 'k' },
    });
    assert.deepEqual(finished, { sessionId, cursor: finished?.cursor, state: 'idle', turn });
    const order = reader.frames.filter(({ method }) => method?.startsWith('_pixir') || method === 'session/update');
    assert.equal(order.at(2), states(reader)[0], 'after the commands and caught_up, before the first update');
    assert.equal(order.at(-1), states(reader)[1]);
    assert.deepEqual(states(client), [], 'a plain client is told nothing');
    const back = await withCursors();
    const { mode } = await back.request('_pixir/session/attach', { sessionId, cursor: finished?.cursor });
    assert.equal(mode, 'current', 'its cursor is the head');
  });

  on('[ATT15] caught_up names the permissions that wait', ask, async ({ w, client, withCursors }) => {
    const sessionId = await client.newSession(w.dir);
    const prompt = client.prompt(sessionId, 'go');
    const asked = await client.frame(({ method }) => method === 'session/request_permission');
    const permissionId = (asked.params?._meta as { pixir?: { permissionId: string } } | undefined)?.pixir?.permissionId;
    const named = async () => {
      const reader = await withCursors();
      await reader.request('_pixir/session/attach', { sessionId, role: 'observer' });
      return (await reader.frame(caughtUp)).params?.permissions;
    };
    assert.deepEqual(await named(), [permissionId]);
    client.raw({ jsonrpc: '2.0', id: asked.id, result: selected('allow') });
    await prompt;
    assert.deepEqual(await named(), []);
  });
}
