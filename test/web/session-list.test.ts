/** The list of Sessions: groups, names of folders, search, and an order that holds still while something runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListedSession } from '../../src/client/connect.ts';
import { folderNames, grouped, matching, neighbour, steadyOrder } from '../../web/src/sessions/list.ts';
import { ago, titleOf } from '../../web/src/sessions/times.ts';

function session(sessionId: string, more: { cwd?: string; title?: string; at?: string; running?: boolean } = {}) {
  const { cwd = '/work/one', title, at = '2026-01-01T00:00:00.000Z', running = false } = more;
  const state = running ? 'running' : 'idle';
  const pixir = { state, waiting: 0, outcome: null, seq: 1, createdAt: at } as const;
  return { sessionId, cwd, ...(title && { title }), updatedAt: at, _meta: { pixir } } satisfies ListedSession;
}

const ids = (sessions: readonly ListedSession[]) => sessions.map(({ sessionId }) => sessionId).join(' ');

test('groups stand where their first Session stood', () => {
  const groups = grouped([session('a'), session('b', { cwd: '/work/two' }), session('c')]);
  assert.deepEqual(
    groups.map(({ name, sessions }) => [name, ids(sessions)]),
    [
      ['one', 'a c'],
      ['two', 'b'],
    ],
  );
});

test('folders of the same name are told apart by as little as it takes', () => {
  const paths = ['/home/ann/api', '/home/ben/api', '/srv/web', '/', '/x/home/ben/api'];
  assert.deepEqual(Object.fromEntries(folderNames(paths)), {
    '/home/ann/api': 'ann/api',
    '/home/ben/api': 'home/ben/api',
    '/srv/web': 'web',
    '/': '/',
    '/x/home/ben/api': 'x/home/ben/api',
  });
});

test('a folder that is the end of another one gets a name, too', () => {
  const names = folderNames(['/api', '/home/api', '/home/api/']);
  assert.equal(names.size, 3);
  assert.equal(names.get('/home/api'), 'home/api');
});

test('every word of a search must be there, whatever its case and accents', () => {
  const all = [session('a', { title: 'Café in Zürich' }), session('b', { title: 'Cafe' }), session('c')];
  assert.equal(ids(matching(all, ' cafe ')), 'a b');
  assert.equal(ids(matching(all, 'ZURICH café')), 'a');
  assert.equal(ids(matching(all, 'one untitled')), 'c');
  assert.equal(ids(matching(all, '')), 'a b c');
});

test('two Sessions that run do not swap places', () => {
  const order = steadyOrder();
  const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
  assert.equal(ids(order([session('a', { at: at(1) }), session('b', { at: at(2) })])), 'b a');
  assert.equal(ids(order([session('a', { at: at(3), running: true }), session('b', { at: at(2) })])), 'a b');
  const both = (a: number, b: number) => [
    session('a', { at: at(a), running: true }),
    session('b', { at: at(b), running: true }),
  ];
  assert.equal(ids(order(both(3, 4))), 'b a');
  assert.equal(ids(order(both(5, 4))), 'b a');
  assert.equal(ids(order([session('a', { at: at(6) }), session('b', { at: at(4), running: true })])), 'a b');
});

test('next and previous stop at the ends, and begin there', () => {
  const all = [session('a'), session('b')];
  assert.equal(neighbour(all, 'a', 1)?.sessionId, 'b');
  assert.equal(neighbour(all, 'a', -1), undefined);
  assert.equal(neighbour(all, undefined, 1)?.sessionId, 'a');
  assert.equal(neighbour(all, 'gone', -1)?.sessionId, 'b');
  assert.equal(neighbour([], undefined, 1), undefined);
});

test('times are short', () => {
  const now = Date.parse('2026-06-15T12:00:00Z');
  const before = (ms: number) => ago(new Date(now - ms).toISOString(), now);
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
  assert.deepEqual([-minute, 0, minute, 59 * minute, hour, 25 * hour, 6 * day].map(before), [
    'now',
    'now',
    '1m',
    '59m',
    '1h',
    '1d',
    '6d',
  ]);
  assert.match(before(8 * day), /7/);
  assert.equal(ago('', now), '');
});

test('a Session without a title is named by when it began', () => {
  assert.equal(titleOf({ title: 'T', createdAt: undefined }), 'T');
  assert.equal(titleOf({ title: undefined, createdAt: undefined }), 'Untitled');
  assert.match(titleOf({ title: null, createdAt: '2026-06-15T12:00:00Z' }), /^Untitled, .*15/);
});
