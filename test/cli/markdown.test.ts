import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toMarkdown } from '../../src/cli/markdown.ts';
import type { Event } from '../../src/core/event.ts';

test('[CONT4] as Markdown, bytes are named by hash and size', () => {
  const bytes = { hash: 'ab12', size: 7 };
  const event: Event = {
    id: '0'.repeat(16),
    sessionId: 'a',
    seq: 1,
    ts: '2026-01-01T00:00:00.000Z',
    type: 'user_message',
    data: {
      turnId: 't',
      messageId: 'm',
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'image', mimeType: 'image/png', ...bytes },
        { type: 'resource', uri: 'file:///w/a.ts', encoding: 'text', ...bytes },
      ],
    },
  };
  const lines = ['image/png', 'file:///w/a.ts'].map((what) => `_(${what}: 7 bytes, SHA-256 ab12)_`);
  assert.equal(toMarkdown(event), `## User\n\nLook:\n\n${lines.join('\n\n')}\n\n`);
});
