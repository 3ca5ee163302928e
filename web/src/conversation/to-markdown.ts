/** A conversation as a Markdown text, to be kept or passed on. Nothing of it can break out of its place. */
import type { ContentBlock } from '@agentclientprotocol/sdk';
import type { Item } from '../state/items.ts';

export function toMarkdown(items: readonly Item[], title: string | undefined): string {
  const parts = [`# ${oneLine(title ?? '') || 'Untitled'}`];
  let speaker: string | undefined;
  for (const item of items) {
    const now = item.type === 'user' ? 'You' : 'Agent';
    if (now !== speaker || item.type === 'user') parts.push(`## ${now}`);
    speaker = now;
    parts.push(itemMarkdown(item));
  }
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** One item of it. */
export function itemMarkdown(item: Item): string {
  switch (item.type) {
    case 'user':
      return item.content.map(blockMarkdown).join('\n\n').trim();
    case 'message':
      return item.id.startsWith('end_') ? quoted(`**Failed:** ${item.text}`) : item.text.trim();
    case 'thought':
      return quoted(`*Thought:* ${item.text.trim()}`);
    case 'tool':
      return toolMarkdown(item.call);
  }
}

function blockMarkdown(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return `*(${block.type}, ${oneLine(block.mimeType)})*`;
    case 'resource_link':
      return `[${oneLine(block.name).replace(/[[\]]/g, '\\$&')}](<${oneLine(block.uri).replace(/[<>]/g, '')}>)`;
    case 'resource': {
      const { uri } = block.resource;
      return 'text' in block.resource ? `\`${oneLine(uri)}\`\n\n${fenced(block.resource.text)}` : `\`${oneLine(uri)}\``;
    }
  }
}

function toolMarkdown(call: Extract<Item, { type: 'tool' }>['call']): string {
  const head = `**${oneLine(call.title ?? 'Tool')}**${call.status ? ` (${call.status.replace('_', ' ')})` : ''}`;
  const contents = (call.content ?? []).map((content) => {
    if (content.type === 'diff') return `\`${oneLine(content.path)}\`\n\n${fenced(content.newText)}`;
    if (content.type !== 'content') return '';
    return content.content.type === 'text' ? fenced(content.content.text) : blockMarkdown(content.content);
  });
  return [head, ...contents.filter((text) => text !== '')].join('\n\n');
}

/** In a fence longer than any in the text. */
function fenced(text: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, '')}\n${fence}`;
}

function quoted(text: string): string {
  return text.replace(/^/gm, '> ');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** A file's name from the title: letters and digits of any language. */
export function fileName(title: string | undefined, ending: string): string {
  const words = (title ?? '').normalize('NFC').match(/[\p{L}\p{N}]+/gu) ?? [];
  return `${[...words.join('-')].slice(0, 60).join('') || 'session'}.${ending}`;
}
