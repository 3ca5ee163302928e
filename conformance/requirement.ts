/** What a requirement is, and how one says that it is not met or cannot be judged. It knows no agent and no transport. */
import type { Client } from './client.ts';
import type { World } from './world.ts';

export type Level = 'MUST' | 'SHOULD' | 'MAY';

interface Heading {
  /** The official kit's id where it has the requirement, else the number of the case in the checklist. */
  id: string;
  level: Level;
  title: string;
  /** Cases of the checklist that are covered by this one. */
  cases?: readonly string[];
  /** Said only of this transport. */
  over?: 'stdio' | 'websocket';
  /** What the agent has to offer. */
  needs?: Feature;
  /** Not worth asking when these are not met, so that one defect is reported once. */
  restsOn?: readonly string[];
}

/** Does something with an agent. */
type Driven = Heading & { run(world: World): Promise<void> };
/** Looks at everything that was said in the whole run. */
type Observed = Heading & { observe(clients: readonly Client[]): void };
export type Requirement = Driven | Observed;

/** Where the agent says what it can do. */
const CAPABILITIES = {
  load: 'loadSession',
  resume: 'sessionCapabilities.resume',
  list: 'sessionCapabilities.list',
  close: 'sessionCapabilities.close',
  delete: 'sessionCapabilities.delete',
  additionalDirectories: 'sessionCapabilities.additionalDirectories',
  image: 'promptCapabilities.image',
  audio: 'promptCapabilities.audio',
  embeddedContext: 'promptCapabilities.embeddedContext',
  logout: 'auth.logout',
} as const;

type Capability = keyof typeof CAPABILITIES;
/** A capability, or something that a Session offers. */
export type Feature = Capability | 'modes' | 'configOptions';

export function offers({ initialized }: Client, capability: Capability): boolean {
  const value = get(initialized, `agentCapabilities.${CAPABILITIES[capability]}`);
  return value !== undefined && value !== null && value !== false;
}

/** The agent does not do what is required. */
export class Unmet extends Error {}

/** Whether the agent does what is required cannot be said; the message says why. */
export class Unjudged extends Error {}

export function expect(condition: unknown, reason: string): asserts condition {
  if (!condition) throw new Unmet(reason);
}

export function skip(reason: string): never {
  throw new Unjudged(reason);
}

/** The same requirements, none of them worth asking when `id` is not met. */
export function restingOn(id: string, requirements: readonly Requirement[]): Requirement[] {
  return requirements.map((requirement) => ({ ...requirement, restsOn: [id, ...(requirement.restsOn ?? [])] }));
}

/** The member at a path like `a.b`, of a value that may be anything. */
export function get(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), value);
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Any value as a few words of a report. */
export function show(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
}
