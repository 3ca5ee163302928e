/** Everything that an agent reported in the whole run, held against the schema and against what it said before. */
import { isAbsolute } from 'node:path';
import type { Client } from '../client.ts';
import type { Frame } from '../frame.ts';
import { expect, get, isObject, list, type Requirement, show, skip } from '../requirement.ts';
import { isKnown } from '../schema.ts';

export const update: Requirement[] = [
  {
    id: 'SCHEMA-001',
    level: 'MUST',
    title: 'everything it sends fits the schema',
    observe(clients) {
      for (const { violation, text, message } of clients.flatMap(({ said }) => said)) {
        expect(violation === undefined, `${violation} in ${show(text)}`);
        const method = message?.method;
        if (typeof method !== 'string' || method.startsWith('_')) continue;
        expect(isKnown(method), `there is no method ${show(method)}`);
      }
    },
  },
  {
    id: 'SCHEMA-002',
    level: 'SHOULD',
    title: 'what is its own it keeps in _meta',
    cases: ['C071'],
    observe(clients) {
      for (const { unknownMembers, text } of clients.flatMap(({ said }) => said)) {
        expect(unknownMembers.length === 0, `unknown members ${unknownMembers.join(', ')} in ${show(text)}`);
      }
    },
  },
  {
    id: 'C064',
    level: 'MUST',
    title: 'a tool call is reported before its updates, once, and does not run again after its end',
    restsOn: ['LOAD-002'],
    observe: (clients) => eachSession(clients, ['tool_call', 'tool_call_update'], orderlyCalls),
  },
  {
    id: 'C065',
    level: 'MUST',
    title: 'paths of locations and diffs are absolute',
    observe: (clients) =>
      eachSession(clients, ['tool_call', 'tool_call_update'], (updates) => {
        const diffs = updates.flatMap(({ content }) => list(content)).filter((item) => get(item, 'type') === 'diff');
        const places = updates.flatMap(({ locations }) => list(locations));
        if (places.length + diffs.length === 0) return false;
        for (const path of [...places, ...diffs].map((place) => get(place, 'path'))) {
          expect(isAbsolute(String(path)), `the path ${show(path)} is not absolute`);
        }
        return true;
      }),
  },
  {
    id: 'C066',
    level: 'MUST',
    title: 'an update of the options names all of them',
    observe: (clients) =>
      eachSession(clients, ['config_option_update'], (updates) => {
        const sets = updates.map(({ configOptions }) =>
          list(configOptions)
            .map((option) => get(option, 'id'))
            .join(),
        );
        for (const ids of sets) expect(ids === sets[0], `the options are now ${ids}, now ${sets[0]}`);
        return true;
      }),
  },
  {
    id: 'C067',
    level: 'MAY',
    title: 'a message has one id and one author',
    observe: (clients) =>
      eachSession(clients, ['user_message_chunk', 'agent_message_chunk', 'agent_thought_chunk'], (updates) => {
        const authors = new Map<unknown, unknown>();
        for (const { messageId, sessionUpdate } of updates) {
          if (typeof messageId !== 'string') continue;
          const author = authors.get(messageId) ?? sessionUpdate;
          expect(author === sessionUpdate, `the message ${messageId} is ${author} and ${sessionUpdate}`);
          authors.set(messageId, author);
        }
        return authors.size > 0;
      }),
  },
  {
    id: 'C071',
    level: 'MAY',
    title: 'no more context is used than there is',
    observe: (clients) =>
      eachSession(clients, ['usage_update'], (updates) => {
        for (const { used, size } of updates)
          expect(Number(used) <= Number(size), `${used} of ${size} tokens are used`);
        return true;
      }),
  },
  {
    id: 'C072',
    level: 'MAY',
    title: 'a title is told when it changes, not again and again',
    observe: (clients) =>
      eachSession(clients, ['session_info_update'], (updates) => {
        const titles = updates.flatMap(({ title }) => (title === undefined ? [] : [title]));
        titles.forEach((title, n) => {
          expect(n === 0 || title !== titles[n - 1], `the title ${show(title)} is told twice`);
        });
        return titles.length > 0;
      }),
  },
];

type Update = Record<string, unknown>;

/**
 * Gives a check the live updates of one Session at a time. What a load replays repeats them, so it is left out.
 * @param check says whether there was anything to judge
 */
function eachSession(clients: readonly Client[], kinds: string[], check: (updates: Update[]) => boolean): void {
  let judged = false;
  for (const client of clients) {
    const sessions = new Map<unknown, Update[]>();
    for (const { message } of live(client)) {
      const update = get(message?.params, 'update');
      if (!isObject(update) || !kinds.includes(String(update.sessionUpdate))) continue;
      const sessionId = get(message?.params, 'sessionId');
      sessions.set(sessionId, [...(sessions.get(sessionId) ?? []), update]);
    }
    for (const updates of sessions.values()) judged = check(updates) || judged;
  }
  if (!judged) skip('it sent nothing that could be judged');
}

function live(client: Client): Frame[] {
  const loading = new Set<unknown>();
  return client.frames.filter(({ from, message, answers }) => {
    if (from === 'client' && message?.method === 'session/load') loading.add(get(message.params, 'sessionId'));
    if (answers?.method === 'session/load') loading.delete(get(answers.params, 'sessionId'));
    return from === 'agent' && message?.method === 'session/update' && !loading.has(get(message.params, 'sessionId'));
  });
}

function orderlyCalls(updates: Update[]): boolean {
  const status = new Map<unknown, unknown>();
  for (const { sessionUpdate, toolCallId, status: next } of updates) {
    const before = status.get(toolCallId);
    if (sessionUpdate === 'tool_call')
      expect(!status.has(toolCallId), `the tool call ${show(toolCallId)} is reported twice`);
    else expect(status.has(toolCallId), `an update of the tool call ${show(toolCallId)}, which was not reported`);
    const isOver = before === 'completed' || before === 'failed';
    expect(
      !isOver || (next ?? before) === before,
      `the tool call ${show(toolCallId)} is ${next} after it has ${before}`,
    );
    status.set(toolCallId, next ?? before ?? 'pending');
  }
  return true;
}
