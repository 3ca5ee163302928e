/** What the page says of its connection, of frames in bug reports, and to those who look elsewhere. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ListedSession } from '../../src/client/connect.ts';
import { answeredBetween, noticesBetween, tabTitle } from '../../web/src/connection/notices.ts';
import { redactedFrame } from '../../web/src/connection/redact.ts';
import { reportText } from '../../web/src/connection/report.ts';
import { caughtUp, duration, explanation, patienceMs, statusOf } from '../../web/src/connection/status.ts';
import { cursorOf, type Frame, headOf, placeOf, shortened } from '../../web/src/server/frames.ts';

suite('frames', () => {
  test('a head says id and method, and what is inside does not count', () => {
    assert.deepEqual(headOf('{"jsonrpc":"2.0","id":7,"method":"session/list","params":{}}'), {
      id: '7',
      method: 'session/list',
    });
    assert.deepEqual(headOf('{"jsonrpc":"2.0","id":"a","result":{"method":"x"}}'), { id: '"a"', method: undefined });
    assert.deepEqual(headOf('{"jsonrpc":"2.0","method":"session/update","params":{}}').method, 'session/update');
  });

  test('the cursor is the one of the protocol, not one that a text speaks of', () => {
    const text = update({ text: 'say "cursor":"fake"' }, 'p1.e.7.c');
    assert.deepEqual(placeOf(text), { sessionId: 's1', cursor: 'p1.e.7.c' });
    assert.equal(cursorOf(update({ text: '"cursor":"fake"' })), undefined);
  });

  test('a long frame keeps its beginning and its end', () => {
    const text = update({ text: 'x'.repeat(50_000) }, 'p1.e.9.c');
    const short = shortened(text);
    assert.ok(short.length < 5_000);
    assert.equal(cursorOf(short), 'p1.e.9.c');
    assert.equal(headOf(short).method, 'session/update');
  });
});

suite('bug reports', () => {
  test('nothing that a person, a model or a file said is in a frame', () => {
    const secret = 'Sup3rSecret';
    const frames = [
      request('session/prompt', { sessionId: 's1', prompt: [{ type: 'text', text: secret }] }),
      request('session/new', {
        cwd: `/home/${secret}`,
        mcpServers: [{ name: secret, env: [{ name: secret, value: secret }] }],
      }),
      update({ text: secret }, 'p1.e.7.c'),
      notify('session/update', {
        sessionId: 's1',
        update: {
          sessionUpdate: 'tool_call',
          toolCallId: 't1',
          title: secret,
          kind: 'edit',
          status: 'pending',
          locations: [{ path: secret }],
          content: [{ type: 'diff', path: secret, oldText: secret, newText: secret }],
          rawInput: { type: secret, [secret]: 1, status: secret },
        },
      }),
      JSON.stringify({
        jsonrpc: '2.0',
        id: 3,
        error: { code: -32602, message: secret, data: { reason: secret.repeat(99) } },
      }),
      update({ text: secret.repeat(999) }, 'p1.e.8.c'),
      `not JSON ${secret}`,
    ];
    for (const text of frames) {
      const kept = shortened(text);
      const said = redactedFrame({ direction: 'in', size: text.length, text: kept });
      assert.ok(!said.includes(secret), said);
      assert.ok(!said.includes('/home'), said);
    }
  });

  test('what the protocol says stays', () => {
    const said = redactedFrame(frame(update({ text: 'hello' }, 'p1.e.7.c')));
    for (const kept of ['session/update', 's1', 'agent_message_chunk', 'm1', 'p1.e.7.c', '<5 characters>'])
      assert.ok(said.includes(kept), kept);
    const beat = redactedFrame(frame(notify('_pixir/heartbeat', { heads: { s1: 'p1.e.7.c' } })));
    assert.ok(beat.includes('p1.e.7.c'));
  });

  test('a path or an address is harmless in no member', () => {
    const said = redactedFrame(frame(notify('x', { id: '/etc/passwd', state: 'https://intranet', kind: 'read' })));
    assert.ok(!said.includes('passwd') && !said.includes('intranet') && said.includes('read'));
  });

  test('contents are in it when the person says so', () => {
    const frames = [frame(update({ text: 'hello' }))];
    const facts = [['State', 'live']] as const;
    assert.ok(!reportText({ facts, frames, withContents: false }).includes('hello'));
    const all = reportText({ facts, frames, withContents: true });
    assert.ok(all.startsWith('State: live\n') && all.includes('hello'));
  });
});

suite('notices', () => {
  test('a Session that begins to wait, or asks once more, is told; the same again is not', () => {
    assert.deepEqual(kinds([session({ waiting: 0 })], [session({ waiting: 1 })]), ['needs_you']);
    assert.deepEqual(kinds([session({ waiting: 1 })], [session({ waiting: 2 })]), ['needs_you']);
    assert.deepEqual(kinds([session({ waiting: 1 })], [session({ waiting: 1 })]), []);
    assert.deepEqual(kinds([], [session({ waiting: 1 })]), ['needs_you']);
  });

  test('a Turn that ended is told, but not to whoever cancelled it', () => {
    const running = session({ state: 'running' });
    assert.deepEqual(kinds([running], [session({ outcome: 'completed' })]), ['ended']);
    assert.deepEqual(kinds([running], [session({ outcome: 'failed' })]), ['ended']);
    assert.deepEqual(kinds([running], [session({ outcome: 'cancelled' })]), []);
    assert.deepEqual(kinds([], [session({ outcome: 'completed' })]), []);
  });

  test('what was answered, or deleted, is taken back', () => {
    assert.deepEqual(answeredBetween(map([session({ waiting: 1 })]), [session({ waiting: 0 })]), ['s1']);
    assert.deepEqual(answeredBetween(map([session({ waiting: 1 })]), []), ['s1']);
    assert.deepEqual(answeredBetween(map([session({ waiting: 1 })]), [session({ waiting: 1 })]), []);
  });

  test('the tab says who is needed, and where one is', () => {
    assert.equal(tabTitle(undefined, 0), 'Pixir');
    assert.equal(tabTitle('Mend the list', 0), 'Mend the list · Pixir');
    assert.equal(tabTitle('Mend the list', 2), '(2) Needs you · Mend the list · Pixir');
    assert.equal(tabTitle(undefined, 1), '(1) Needs you · Pixir');
  });
});

suite('the state of the connection', () => {
  const live = { kind: 'live' } as const;
  const reconnecting = { kind: 'reconnecting' } as const;

  test('without a network it is offline, and not merely lost', () => {
    assert.deepEqual(statusOf({ state: reconnecting, hasNetwork: false }), { kind: 'offline' });
    assert.deepEqual(statusOf({ state: reconnecting, hasNetwork: true }), reconnecting);
    assert.deepEqual(statusOf({ state: live, hasNetwork: false }), live);
  });

  test('what is over at once is not shown; what is good news is', () => {
    assert.ok(patienceMs(reconnecting, live) >= 600);
    assert.equal(patienceMs(live, reconnecting), 0);
    assert.equal(patienceMs({ kind: 'refused', reason: 'protocol' }, live), 0);
  });

  test('a server that answers, but not to us, is told from one that does not', () => {
    assert.match(explanation(reconnecting, 426), /proxy/);
    assert.match(explanation(reconnecting, 502), /502/);
    assert.match(explanation(reconnecting, undefined), /does not answer/);
    assert.match(explanation({ kind: 'refused', reason: 'protocol' }, undefined), /Reload/);
  });

  test('numbers as people say them', () => {
    assert.deepEqual([900, 61_000, 7_300_000].map(duration), ['0 s', '1 min', '2 h']);
    assert.deepEqual([0, 1, 1_200].map(caughtUp), ['nothing missed', '1 update caught up', '1,200 updates caught up']);
  });
});

function update(content: object, cursor?: string): string {
  const params = { sessionId: 's1', update: { sessionUpdate: 'agent_message_chunk', messageId: 'm1', content } };
  return notify('session/update', cursor === undefined ? params : { ...params, _meta: { pixir: { cursor } } });
}

function notify(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

function request(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

function frame(text: string): Frame {
  return { number: 1, at: 0, direction: 'in', size: text.length, method: undefined, isAnswer: false, text };
}

function session(status: Partial<ListedSession['_meta']['pixir']>): ListedSession {
  const pixir = { state: 'idle', waiting: 0, outcome: null, seq: 1, createdAt: '', ...status } as const;
  return { sessionId: 's1', cwd: '/', title: 'One', _meta: { pixir } };
}

function map(all: ListedSession[]): Map<string, ListedSession> {
  return new Map(all.map((one) => [one.sessionId, one]));
}

function kinds(before: ListedSession[], after: ListedSession[]): string[] {
  return noticesBetween(map(before), after).map(({ kind }) => kind);
}
