/**
 * Defects that must never go unnoticed: each is a small change of the source, and the rule whose test has to fail with
 * it. `npm run mutants` applies them one by one; a mutant that survives means a test that cannot fail.
 */
import { ACCESS_MUTANTS } from './mutants-access.ts';
import { ATTACK_MUTANTS } from './mutants-attack.ts';
import { BROWSER_MUTANTS } from './mutants-browser.ts';
import { COMPACTION_MUTANTS } from './mutants-compaction.ts';
import { CONTENT_MUTANTS } from './mutants-content.ts';
import { DOOR_MUTANTS } from './mutants-door.ts';
import { HTTP_MUTANTS } from './mutants-http.ts';
import { LIFE_MUTANTS } from './mutants-life.ts';
import { LIMIT_MUTANTS } from './mutants-limits.ts';
import { MCP_MUTANTS } from './mutants-mcp.ts';
import { ROOT_MUTANTS } from './mutants-roots.ts';
import { RULE_MUTANTS } from './mutants-rules.ts';
import { SANDBOX_MUTANTS } from './mutants-sandbox.ts';
import { SERVICE_MUTANTS } from './mutants-services.ts';

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
    name: 'an Event is published before it is committed',
    file: 'src/core/session.ts',
    find: 'const entries = await this.#append(drafts);\n    this.#publish(entries);',
    replace:
      "this.#ports.bus.publish(this.id, { type: 'committed', seq: this.#head + 1 });\n    const entries = await this.#append(drafts);\n    this.#publish(entries);",
    rule: 'LAW1',
    tests: 'test/core/session.test.ts',
  },
  {
    name: 'a commit that failed is acknowledged',
    file: 'src/store/write-queue.ts',
    find: 'for (const job of jobs) job.reject(error);',
    replace: 'for (const tell of settle) tell();',
    rule: 'STORE7',
    tests: 'test/store/sqlite-log.test.ts',
  },
  {
    name: 'text is not checkpointed while it streams',
    file: 'src/core/session.ts',
    find: 'this.#ports.log.saveDraft(this.id, draftOf(this.#live)).catch(this.#ports.onError);',
    replace: '',
    rule: 'DRAFT1',
    tests: 'test/core/session.test.ts',
  },
  {
    name: 'a draft outlives the commit of its message',
    file: 'src/core/session.ts',
    find: 'data.messageId === this.#live?.messageId)) this.#dropDraft();',
    replace: 'data.messageId === this.#live)) this.#dropDraft();',
    rule: 'DRAFT1',
    tests: 'test/core/recovery.test.ts',
  },
  {
    name: 'a call that may have run is run again after a crash',
    file: 'src/core/closing.ts',
    find: "...ran.map((callId) => failedCall(state, callId, openCallError('interrupted'))),",
    replace: '',
    rule: 'REC7',
    tests: 'test/core/recovery.test.ts',
  },
  {
    name: 'a permission allows other arguments than it showed',
    file: 'src/core/executor.ts',
    find: "const allowed = decision === 'allow' && asked.argsHash === hashCall(name, args);",
    replace: "const allowed = decision === 'allow' && asked.argsHash !== args;",
    rule: 'REC6',
    tests: 'test/core/recovery.test.ts',
  },
  {
    name: 'the deadline of a permission begins anew after a restart',
    file: 'src/core/approvals.ts',
    find: 'const left = Math.max(0, expiresAt - this.#clock.now());',
    replace: 'const left = expiresAt && this.#timeoutMs;',
    rule: 'REC5',
    tests: 'test/core/recovery.test.ts',
  },
  {
    name: 'a Turn is continued for ever',
    file: 'src/core/session-state.ts',
    find: 'if (state.turn) state.turn.continued = true;',
    replace: '',
    rule: 'REC8',
    tests: 'test/core/recovery.test.ts',
  },
  {
    name: 'a second server takes a data directory that is in use',
    file: 'src/store/data-dir.ts',
    find: "lock.exec('BEGIN EXCLUSIVE');",
    replace: "lock.exec('BEGIN');",
    rule: 'STORE9',
    tests: 'test/store/data-dir.test.ts',
  },
  {
    name: 'a snapshot of another Log is believed',
    file: 'src/core/snapshot.ts',
    find: 'if (entry?.event.seq !== seq || chainCheck(entry.chk, VERSION, json) !== chk) return undefined;',
    replace: 'if (entry?.event.seq !== seq) return undefined;',
    rule: 'SNAP2',
    tests: 'test/core/snapshot.test.ts',
  },
  {
    name: 'a database that was cut while it was made never opens again',
    file: 'src/store/database.ts',
    find: 'migrate(db, known, () => options.clock.now());',
    replace: "db.pragma('application_id = 0'); migrate(db, known, () => options.clock.now());",
    rule: 'STORE17',
    tests: 'test/store/database.test.ts',
  },
  {
    name: 'an editor is asked the same permission again after a restart',
    file: 'src/cli/bridge-questions.ts',
    find: '      if (known) {',
    replace: '      if (known && frame === undefined) {',
    rule: 'BRIDGE5',
    tests: 'test/cli/bridge.test.ts',
  },
  {
    name: 'a bridge shows an editor what it has been shown',
    file: 'src/cli/bridge-session.ts',
    find: 'if (promptKey !== undefined && !session.replaying && isOwn(promptKey)) return false;',
    replace: '',
    rule: 'BRIDGE3',
    tests: 'test/cli/bridge-cut.test.ts',
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
  ...SANDBOX_MUTANTS,
  ...ACCESS_MUTANTS,
  ...ATTACK_MUTANTS,
  ...LIMIT_MUTANTS,
  ...MCP_MUTANTS,
  ...LIFE_MUTANTS,
  ...DOOR_MUTANTS,
  ...HTTP_MUTANTS,
  ...CONTENT_MUTANTS,
  ...RULE_MUTANTS,
  ...COMPACTION_MUTANTS,
  ...ROOT_MUTANTS,
  ...SERVICE_MUTANTS,
  ...BROWSER_MUTANTS,
];
