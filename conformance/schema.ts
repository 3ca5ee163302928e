/** Checks messages of an agent against the official JSON Schema of ACP v1. It judges shapes, never behaviour. */
import { createRequire } from 'node:module';
import schema from '@agentclientprotocol/sdk/schema/v1/schema.json' with { type: 'json' };
import type { ValidateFunction } from 'ajv';

// ajv is CommonJS with a default export that TypeScript and Node read differently.
const { Ajv2020 } = createRequire(import.meta.url)('ajv/dist/2020') as typeof import('ajv/dist/2020.js');

const ajv = new Ajv2020({ strict: false, allErrors: false });
for (const format of ['uint16', 'uint32', 'uint64', 'int32', 'int64', 'double', 'uri']) ajv.addFormat(format, true);
ajv.addSchema(schema, 'acp');

interface Shape {
  properties?: Record<string, unknown>;
  $ref?: string;
  allOf?: Shape[];
  anyOf?: Shape[];
  oneOf?: Shape[];
}
type Definition = Shape & { 'x-method'?: string };
type Part = 'Request' | 'Response' | 'Notification';
const definitions: Record<string, Definition> = schema.$defs as never;
const validators = new Map<string, ValidateFunction>();

/** `session/new Response`: the name of its definition. */
const names = new Map<string, string>();
for (const [name, { 'x-method': method }] of Object.entries(definitions)) {
  const [part] = /Request$|Response$|Notification$/.exec(name) ?? [];
  if (method !== undefined && part !== undefined) names.set(`${method} ${part}`, name);
}

/** What is wrong with a value, in one line; undefined when nothing is, or nothing is known of the method. */
export function violation(method: string, part: Part, value: unknown): string | undefined {
  const name = names.get(`${method} ${part}`);
  if (name === undefined) return undefined;
  const check = validators.get(name) ?? ajv.compile({ $ref: `acp#/$defs/${name}` });
  validators.set(name, check);
  return check(value) ? undefined : ajv.errorsText(check.errors, { dataVar: name }).replaceAll('\n', ' ');
}

/** Members that the specification does not know. It keeps the root of its types to itself; `_meta` is for the rest. */
export function unknownMembers(method: string, part: Part, value: object): string[] {
  const name = names.get(`${method} ${part}`);
  if (name === undefined) return [];
  const known = members(definitions[name]);
  return Object.keys(value).filter((key) => !known.has(key));
}

/** The members of a shape in any of its variants. */
function members(shape: Shape | undefined): Set<string> {
  const { properties = {}, $ref, allOf = [], anyOf = [], oneOf = [] } = shape ?? {};
  const parts = [...allOf, ...anyOf, ...oneOf, ...($ref ? [definitions[$ref.replace('#/$defs/', '')]] : [])];
  return new Set([...Object.keys(properties), ...parts.flatMap((part) => [...members(part)])]);
}

/** Whether an agent can send this method. */
export function isKnown(method: string): boolean {
  return names.has(`${method} Request`) || names.has(`${method} Notification`);
}
