/**
 * What an MCP server says, made fit for the model: bounded, and as text. It never trusts the server to be brief, nor to
 * mean what it says.
 */
import type { CallToolResult, Tool as ServerTool } from '@modelcontextprotocol/client';
import type { Json } from '../core/event.ts';
import type { ToolResult } from '../core/tool.ts';
import { createOutputBuffer, firstBytes } from './bounded.ts';
import { oneLine } from './presentation.ts';

const DESCRIPTION_BYTES = 2_000;
const SCHEMA_BYTES = 8_000;
const NAME_LENGTH = 256;

/** A tool of a server, with no more of it than will be used. */
export interface OfferedTool {
  name: string;
  description: string;
  parameters: Json;
  /** What the server says of itself: a hint, to be believed of nobody but whom the operator trusts. */
  readOnly: boolean;
}

/** Undefined for what cannot be called by its name. */
export function offeredTool({ name, description, inputSchema, annotations }: ServerTool): OfferedTool | undefined {
  if (name === '' || name.length > NAME_LENGTH) return undefined;
  return {
    name,
    // Line breaks and tabs are text; other control characters are tricks.
    description: firstBytes(description ?? '', DESCRIPTION_BYTES).replaceAll(/[^\P{C}\n\t]/gu, ' '),
    parameters: boundedSchema(inputSchema),
    readOnly: annotations?.readOnlyHint === true && annotations.destructiveHint !== true,
  };
}

/** A schema that is too long is left out: the server checks its arguments itself. */
function boundedSchema({ $schema, ...schema }: ServerTool['inputSchema']): Json {
  try {
    const json = JSON.stringify(schema);
    // A copy of its own, which keeps nothing else of the answer in memory.
    if (Buffer.byteLength(json) <= SCHEMA_BYTES) return JSON.parse(json);
  } catch {
    // Nested so deeply that it cannot be written.
  }
  return { type: 'object' };
}

export function toolResult({ content, structuredContent, isError }: CallToolResult): ToolResult {
  const output = createOutputBuffer();
  const parts = content.map(describe);
  // By the protocol the text says the same; only where there is none the data stands for itself.
  if (parts.length === 0 && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent));
  parts.forEach((part, index) => {
    output.write(Buffer.from(index === 0 ? part : `\n${part}`));
  });
  return { ok: isError !== true, output: output.text() };
}

/** What the model cannot read yet is named. */
function describe(block: CallToolResult['content'][number]): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return `[${block.type} ${oneLine(block.mimeType)}, ${size(block.data)}]`;
    case 'resource_link':
      return `[link ${oneLine(block.uri)}]`;
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return `[resource ${oneLine(resource.uri)}]\n${resource.text}`;
      return `[resource ${oneLine(resource.uri)}, ${size(resource.blob)}]`;
    }
  }
}

function size(base64: string): string {
  const bytes = Math.floor((base64.length * 3) / 4);
  return bytes < 1_000 ? `${bytes} bytes` : `${Math.round(bytes / 1_000)} kB`;
}
