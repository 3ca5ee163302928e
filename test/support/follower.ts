/**
 * A client that follows the contract of cursors and nothing else: it appends every chunk and keeps the last cursor it
 * saw. What it holds survives its connections, as what a browser keeps does.
 */
import assert from 'node:assert/strict';
import type { Frame } from './schema.ts';
import type { Update, WireClient } from './wire-client.ts';

interface Item {
  kind: string;
  text: string;
}

export class Follower {
  readonly sessionId: string;
  /** By message or call id, in the order in which they appeared. */
  readonly transcript = new Map<string, Item>();
  cursor: string | undefined;
  caughtUp = 0;
  /** Prompts of its own, by key: it does not show them twice. */
  readonly sent = new Map<string, string>();

  constructor(sessionId: string) {
    this.sessionId = sessionId;
  }

  /** Applies one frame. */
  apply({ method, params }: Frame): void {
    if (params?.sessionId !== this.sessionId) return;
    if (method === '_pixir/session/caught_up') {
      this.caughtUp++;
      this.cursor = String(params.cursor);
    }
    if (method !== 'session/update') return;
    const meta = (params._meta as { pixir?: { cursor?: string; replace?: boolean; promptKey?: string } })?.pixir;
    if (!(meta?.promptKey && this.sent.has(meta.promptKey)))
      this.#update(params.update as Update, meta?.replace === true);
    this.cursor = meta?.cursor ?? this.cursor;
  }

  #update(update: Update, replace: boolean): void {
    const { sessionUpdate, messageId, toolCallId, content } = update as Update & Record<string, string>;
    if (sessionUpdate.endsWith('_chunk')) {
      const item = this.transcript.get(messageId ?? '') ?? { kind: sessionUpdate, text: '' };
      const { text } = content as unknown as { text: string };
      item.text = replace ? text : item.text + text;
      this.transcript.set(messageId ?? '', item);
    } else if (sessionUpdate === 'tool_call') {
      assert.ok(!this.transcript.has(toolCallId ?? ''), `the call ${toolCallId} was shown twice`);
      this.transcript.set(toolCallId ?? '', { kind: 'tool_call', text: 'in_progress' });
    } else if (sessionUpdate === 'tool_call_update') {
      const shown = JSON.stringify([update.status, update.content]);
      this.transcript.set(toolCallId ?? '', { kind: 'tool_call', text: shown });
    } else if (sessionUpdate !== 'available_commands_update') {
      this.transcript.set(sessionUpdate, { kind: sessionUpdate, text: JSON.stringify(update) });
    }
  }

  /** What a person sees; ids are not part of it. */
  visible(): string[] {
    return [...this.transcript.values()].filter(({ text }) => text !== '').map(({ kind, text }) => `${kind}: ${text}`);
  }

  /** Attaches a connection where the last one ended. */
  async attach(client: WireClient, role = 'controller'): Promise<Record<string, unknown>> {
    const cursor = this.cursor === undefined ? {} : { cursor: this.cursor };
    const result = await client.request('_pixir/session/attach', { sessionId: this.sessionId, role, ...cursor });
    if (result.mode === 'reset') this.transcript.clear();
    return result;
  }
}
