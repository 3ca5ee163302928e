/**
 * Defects that must never go unnoticed: each is a small change of the source, and the rule whose test has to fail with
 * it. `npm run mutants` applies them one by one; a mutant that survives means a test that cannot fail.
 */
export interface Mutant {
  /** What the change would do to a user. */
  name: string;
  file: string;
  /** Occurs exactly once in the file. */
  find: string;
  replace: string;
  /** A test of this rule must fail. */
  rule: string;
  /** Where that test is. */
  tests: string;
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a cursor is believed without its check value',
    file: 'src/acp/cursor.ts',
    find: "return entry?.chk === chk ? undefined : 'diverged';",
    replace: 'return entry && undefined;',
    rule: 'ATT4',
    tests: 'test/acp/peer.test.ts',
  },
  {
    name: 'a cursor of another epoch is believed',
    file: 'src/acp/cursor.ts',
    find: "if (epoch !== tail.epoch) return 'epoch_changed';",
    replace: '',
    rule: 'ATT4',
    tests: 'test/acp/peer.test.ts',
  },
  {
    name: 'every update of an Event carries its cursor',
    file: 'src/acp/feed.ts',
    find: 'const cursor = this.options.cursors && index === updates.length - 1;',
    replace: 'const cursor = this.options.cursors && index >= 0;',
    rule: 'TRAP6',
    tests: 'test/acp/traps.test.ts',
  },
  {
    name: 'text that was streamed is sent again when its item is committed',
    file: 'src/acp/feed.ts',
    find: 'const seen = live !== undefined && live.messageId === messageId ? live.offset : 0;',
    replace: 'const seen = 0;',
    rule: 'LES1',
    tests: 'test/acp/lessons.test.ts',
  },
  {
    name: 'a cursor names the head instead of what was sent',
    file: 'src/acp/feed.ts',
    find: 'return encodeCursor(this.session.tail.epoch, this.#position);',
    replace: 'return encodeCursor(this.session.tail.epoch, this.session.tail);',
    rule: 'LES2',
    tests: 'test/acp/lessons.test.ts',
  },
  {
    name: 'a prompt is answered before its last updates are sent',
    file: 'src/acp/methods/session-prompt.ts',
    find: 'await connection.feeds.sent(sessionId, end.seq);',
    replace: '',
    rule: 'LES3',
    tests: 'test/acp/lessons.test.ts',
  },
  {
    name: 'a client that goes away cancels what it asked for',
    file: 'src/acp/peer.ts',
    find: 'this.feeds.end();',
    replace: 'this.feeds.end(); for (const handling of this.#handling.values()) handling.abort();',
    rule: 'LES4',
    tests: 'test/acp/lessons.test.ts',
  },
  {
    name: 'an observer may act',
    file: 'src/acp/feeds.ts',
    find: 'if (await this.observes(sessionId)) throw onlyObserving();',
    replace: '',
    rule: 'ATT7',
    tests: 'test/acp/peer.test.ts',
  },
  {
    name: 'a slow client is sent everything at once',
    file: 'src/acp/slow.ts',
    find: 'const HIGH_WATER = 1024 * 1024;',
    replace: 'const HIGH_WATER = 1024 * 1024 * 1024;',
    rule: 'FEED1',
    tests: 'test/acp/feed.test.ts',
  },
  {
    name: 'a key that was used runs again',
    file: 'src/core/conversation.ts',
    find: 'if (known) return known;',
    replace: '',
    rule: 'KEY1',
    tests: 'test/core/session.test.ts',
  },
  {
    name: 'a permission whose deadline passes is granted',
    file: 'src/core/approvals.ts',
    find: "this.decide(permissionId, 'deny', 'timeout'",
    replace: "this.decide(permissionId, 'allow', 'timeout'",
    rule: 'PERM9',
    tests: 'test/acp/peer.test.ts',
  },
  {
    name: 'SQLite acknowledges before the disk has it',
    file: 'src/store/database.ts',
    find: 'synchronous = FULL',
    replace: 'synchronous = NORMAL',
    rule: 'STORE1',
    tests: 'test/store/sqlite-log.test.ts',
  },
  {
    name: 'the client sends a prompt before it has stored its key',
    file: 'src/client/own-prompt.ts',
    find: "const taken = this.#begin(prompt, 'storing');",
    replace: "const taken = this.#begin(prompt, 'never'); this.send(); taken.sent = 'storing';",
    rule: 'CLIENT3',
    tests: 'test/client/prompt.test.ts',
  },
  {
    name: 'the client sends a prompt again under another key',
    file: 'src/client/own-prompt.ts',
    find: 'const _meta = { ...meta, pixir: { ...meta.pixir, promptKey } };',
    replace: 'const _meta = { ...meta, pixir: { ...meta.pixir, promptKey: newKey() } };',
    rule: 'CLIENT1',
    tests: 'test/client/prompt.test.ts',
  },
  {
    name: 'the client forgets a decision that was not taken',
    file: 'src/client/permissions.ts',
    find: 'decisions.set(permissionId, optionId);',
    replace: '',
    rule: 'CLIENT4',
    tests: 'test/client/session.test.ts',
  },
  {
    name: 'the client shows its own prompt twice after a reconnect',
    file: 'src/client/transcript.ts',
    find: 'if (promptKey !== undefined && transcript.items.some((item) => item.id === promptKey)) {',
    replace: 'if (promptKey === id) {',
    rule: 'CLIENT14',
    tests: 'test/client/prompt.test.ts',
  },
  {
    name: 'the client trusts a connection that has gone silent',
    file: 'src/client/link.ts',
    find: 'const SILENT_MS = 45_000;',
    replace: 'const SILENT_MS = 45_000_000;',
    rule: 'LINK5',
    tests: 'test/client/link.test.ts',
  },
  {
    name: 'the client hammers a server that refuses it',
    file: 'src/client/close-codes.ts',
    find: ", 4403: 'forbidden'",
    replace: '',
    rule: 'LINK3',
    tests: 'test/client/link.test.ts',
  },
];
