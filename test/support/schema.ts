/** Checks every frame that the agent sends against the official JSON Schema of ACP v1. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import schema from '@agentclientprotocol/sdk/schema/v1/schema.json' with { type: 'json' };
import unstable from '@agentclientprotocol/sdk/schema/v1/schema.unstable.json' with { type: 'json' };
import type { ValidateFunction } from 'ajv';

// ajv is CommonJS with a default export that TypeScript and Node read differently.
const { Ajv2020 } = createRequire(import.meta.url)('ajv/dist/2020') as typeof import('ajv/dist/2020.js');

const ajv = new Ajv2020({ strict: false, allErrors: true });
for (const format of ['uint16', 'uint32', 'uint64', 'int32', 'int64', 'double', 'uri']) ajv.addFormat(format, true);
ajv.addSchema(schema, 'acp');
ajv.addSchema(unstable, 'unstable');

type Definition = { 'x-method'?: string; 'x-side'?: string };

function validators(suffix: string, { $defs }: { $defs: object } = schema, id = 'acp'): Map<string, ValidateFunction> {
  const definitions = Object.entries($defs as Record<string, Definition>);
  const found = definitions.filter(([name, def]) => def['x-method'] && name.endsWith(suffix));
  return new Map(found.map(([name, def]) => [def['x-method'] ?? '', ajv.compile({ $ref: `${id}#/$defs/${name}` })]));
}

/** Those of methods that the stable schema does not have are the unstable one's. */
const results = new Map([...validators('Response', unstable, 'unstable'), ...validators('Response')]);
const requests = validators('Request');
const notifications = validators('Notification');
const knownCodes = new Set([-32700, -32600, -32601, -32602, -32603, -32800, -32000, -32002]);

export interface Frame {
  jsonrpc: '2.0';
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: Record<string, unknown> };
}

/** @param asked the method of the request with this id, where the client sent one. @throws AssertionError */
export function checkFrame(text: string, asked: (id: Frame['id']) => string | undefined): Frame {
  assert.ok(!text.includes('\n'), 'a message is one line');
  const frame = JSON.parse(text) as Frame;
  assert.equal(frame.jsonrpc, '2.0');
  if (frame.method !== undefined) {
    const table = frame.id === undefined ? notifications : requests;
    validate(table.get(frame.method), frame.method, frame.params, text);
  } else if (frame.error) {
    assert.ok(!('result' in frame), text);
    assert.ok(knownCodes.has(frame.error.code), `undocumented code in ${text}`);
    assert.match(frame.error.message, /^[^\n]+$/, 'an error message is one short line');
  } else {
    assert.ok(frame.result !== undefined && frame.result !== null, text);
    const method = asked(frame.id);
    if (method) validate(results.get(method), method, frame.result, text);
  }
  return frame;
}

function validate(check: ValidateFunction | undefined, method: string, value: unknown, text: string): void {
  if (!check) {
    assert.ok(method.startsWith('_') || method === 'session/set_model', `no schema for ${method}`);
    return;
  }
  assert.ok(check(value), `${method}: ${ajv.errorsText(check.errors)} in ${text.slice(0, 2_000)}`);
}
