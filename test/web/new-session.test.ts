/** How a Session begins in the browser: where a typed path leads, and that nothing is shown before it asks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionConfigOption } from '@agentclientprotocol/sdk';
import type { ListedSession } from '../../src/client/connect.ts';
import { carefulChoice, createSession } from '../../web/src/sessions/create.ts';
import { filtered, folderOf, placeOf, recentFolders } from '../../web/src/sessions/folders.ts';

function options(permission: string, permitted: string[]): SessionConfigOption[] {
  const select = { type: 'select' } as const;
  const model = [{ group: 'g', name: 'G', options: [{ value: 'm', name: 'M' }] }];
  return [
    { ...select, id: 'model', name: 'Model', currentValue: 'm', options: model },
    {
      ...select,
      id: 'permission_mode',
      name: 'Permissions',
      currentValue: permission,
      options: permitted.map((value) => ({ value, name: value })),
    },
  ];
}

/** Answers what `answer` says, and keeps what was asked. */
function server(answer: (method: string) => unknown) {
  const asked: string[] = [];
  const request = (async (method: string, params: { configId?: string; value?: string }) => {
    asked.push([method, params.configId, params.value].filter(Boolean).join(' '));
    return answer(method);
  }) as Parameters<typeof createSession>[0]['request'];
  return { asked, client: { request } };
}

test('a Session asks, where the server lets it', () => {
  assert.equal(carefulChoice(options('auto', ['auto', 'ask'])).permission_mode, 'ask');
  assert.equal(carefulChoice(options('read_only', ['read_only'])).permission_mode, 'read_only');
  assert.equal(carefulChoice(options('auto', ['auto'])).model, 'm');
});

test('asking comes first, and what is so already is not set', async () => {
  const configOptions = options('auto', ['auto', 'ask']);
  const { asked, client } = server((method) => method === 'session/new' && { sessionId: 's', configOptions });
  assert.equal(await createSession(client, '/w', { model: 'other', mode: 'plan', permission_mode: 'ask' }), 's');
  assert.deepEqual(asked, [
    'session/new',
    'session/set_config_option permission_mode ask',
    'session/set_config_option model other',
    'session/set_config_option mode plan',
  ]);
});

test('a Session that cannot be as it was wanted is deleted, and it is said why', async () => {
  const { asked, client } = server((method) => {
    if (method === 'session/set_config_option') throw new Error('not this one');
    return { sessionId: 's', configOptions: options('auto', ['auto', 'ask']) };
  });
  await assert.rejects(createSession(client, '/w', { permission_mode: 'ask' }), /not this one/);
  assert.equal(asked.at(-1), 'session/delete');
});

test('a typed path is looked into up to its last slash', () => {
  const known = new Set(['/srv/work']);
  assert.deepEqual(placeOf('/srv/work', known), { inside: '/srv/work', filter: '' });
  assert.deepEqual(placeOf('/srv/work/', known), { inside: '/srv/work', filter: '' });
  assert.deepEqual(placeOf('/srv/work/pi', known), { inside: '/srv/work', filter: 'pi' });
  assert.deepEqual(placeOf('/srv', known), { inside: '/', filter: 'srv' });
  assert.deepEqual(placeOf('/', known), { inside: '/', filter: '' });
  assert.deepEqual(placeOf('pi', known), { inside: undefined, filter: 'pi' });
  assert.deepEqual(placeOf('', known), { inside: undefined, filter: '' });
  assert.deepEqual(['/a/b//', '/', '', ' /a '].map(folderOf), ['/a/b', '/', '', '/a']);
});

test('folders that begin with what was typed come first', () => {
  const named = (...all: string[]) => all.map((name) => ({ name, path: `/${name}` }));
  const found = filtered(named('web-old', 'tests', 'Web'), 'we');
  assert.deepEqual(found, named('web-old', 'Web'));
  assert.deepEqual(filtered(named('a-web', 'web'), 'web'), named('web', 'a-web'));
});

test('recent folders are those of the newest Sessions, each once', () => {
  const all = ['/b', '/a', '/b', '/c'].map((cwd) => ({ cwd }) as ListedSession);
  assert.deepEqual(recentFolders(all, 2), ['/b', '/a']);
});

test('a Session that is neither set up nor deleted is not kept quiet', async () => {
  const { client } = server((method) => {
    if (method !== 'session/new') throw new Error('no');
    return { sessionId: 's', configOptions: options('auto', ['auto', 'ask']) };
  });
  await assert.rejects(createSession(client, '/w', { permission_mode: 'ask' }), /nor deleted.*may act without asking/);
});
