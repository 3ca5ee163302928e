/**
 * The one shape of a message: the Event. Canonical Events are the Log; a new type is a schema change and every total
 * switch over `type` then fails to compile until it is handled.
 */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { skillSchema } from './skills.ts';

export const MODES = ['build', 'plan'] as const;
export const PERMISSION_MODES = ['auto', 'ask', 'read_only'] as const;
export const REASONING_EFFORTS = ['default', 'low', 'medium', 'high', 'xhigh'] as const;
export const TOOL_KINDS = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'other'] as const;
const TURN_OUTCOMES = ['completed', 'failed', 'interrupted', 'cancelled', 'timed_out'] as const;
const STOP_REASONS = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'] as const;

export const modeSchema = z.enum(MODES);
export const permissionModeSchema = z.enum(PERMISSION_MODES);
export const reasoningEffortSchema = z.enum(REASONING_EFFORTS);
const toolKindSchema = z.enum(TOOL_KINDS);
const stopReasonSchema = z.enum(STOP_REASONS);

/** What a person may put into a prompt. The same words as ACP's content blocks, because they are good words. */
const contentBlockSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('resource_link'),
    uri: z.string(),
    name: z.string(),
    title: z.string().exactOptional(),
    description: z.string().exactOptional(),
    mimeType: z.string().exactOptional(),
    size: z.number().exactOptional(),
  }),
  // The bytes are a blob (see blobs.ts): the Log holds their SHA-256 and how many they are.
  z.object({
    type: z.literal('image'),
    hash: z.string(),
    mimeType: z.string(),
    size: z.number().int(),
    uri: z.string().exactOptional(),
  }),
  z.object({
    type: z.literal('resource'),
    uri: z.string(),
    mimeType: z.string().exactOptional(),
    hash: z.string(),
    size: z.number().int(),
    /** Whether it came as text, which is kept as UTF-8, or as base64. */
    encoding: z.enum(['text', 'base64']),
  }),
]);

export const planEntrySchema = z.object({
  content: z.string(),
  priority: z.enum(['high', 'medium', 'low']),
  status: z.enum(['pending', 'in_progress', 'completed']),
});

/** A file before and after a tool changed it; `oldText` null means that the file is new. Paths are absolute. */
const diffSchema = z.object({ path: z.string(), oldText: z.string().nullable(), newText: z.string() });

const locationSchema = z.object({ path: z.string(), line: z.number().int().exactOptional() });

/** Why something failed, as the Log keeps it and as the model reads it. */
const failureSchema = z.object({
  kind: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.json()).exactOptional(),
});

/** Tokens of one model call. `input` includes `cached`; `output` includes `reasoning`. */
const usageSchema = z.object({
  input: z.number().int(),
  cached: z.number().int(),
  output: z.number().int(),
  reasoning: z.number().int(),
});

/** `keyHash`: SHA-256 of what a call must have to be covered. `text` says the same to a person. */
const ruleOfferSchema = z.object({ keyHash: z.string(), text: z.string() });

/** The principal whose doing it was; Events from before there were principals have none. */
const bySchema = z.string().exactOptional();

/** Real directories in which the tools work besides the Workspace. */
const rootsSchema = z.array(z.string()).exactOptional();

const dataSchemas = {
  session_created: z.object({
    workspace: z.string(),
    additionalDirectories: rootsSchema,
    mode: modeSchema,
    permissionCeiling: permissionModeSchema,
    owner: z.string(),
    /** What follows is a copy of that Session's record up to `seq`. */
    forkedFrom: z.object({ sessionId: z.string(), seq: z.number().int() }).exactOptional(),
  }),
  session_configured: z.object({
    mode: modeSchema.exactOptional(),
    model: z.string().exactOptional(),
    reasoningEffort: reasoningEffortSchema.exactOptional(),
    permissionMode: permissionModeSchema.exactOptional(),
    additionalDirectories: rootsSchema,
    by: bySchema,
  }),
  session_titled: z.object({ title: z.string(), by: z.enum(['runtime', 'client']) }),
  turn_started: z.object({
    turnId: z.string(),
    promptKey: z.string().exactOptional(),
    /** What the prompt set for this Turn only. */
    overrides: z
      .object({
        model: z.string().exactOptional(),
        effort: reasoningEffortSchema.exactOptional(),
        permissionMode: permissionModeSchema.exactOptional(),
        dryRun: z.boolean().exactOptional(),
      })
      .exactOptional(),
    /** What answers the prompt, instead of a model. */
    reply: z.string().exactOptional(),
    /** Instead of being answered, the prompt has the conversation compacted; what the summary must keep. */
    compact: z.string().exactOptional(),
  }),
  /** A Turn that was cut goes on, with nothing but its Log: at most once by itself. */
  turn_continued: z.object({ turnId: z.string() }),
  user_message: z.object({
    turnId: z.string(),
    messageId: z.string(),
    promptKey: z.string().exactOptional(),
    content: z.array(contentBlockSchema),
    /** The command `/name` that the content begins with: it was obeyed, and the model is shown the rest. */
    command: z.string().exactOptional(),
    by: bySchema,
  }),
  assistant_message: z.object({
    turnId: z.string(),
    messageId: z.string(),
    text: z.string(),
    /** Present when the text was cut off. Such text is shown to people and withheld from the model. */
    partial: z.enum(['failed', 'interrupted', 'cancelled', 'timed_out']).exactOptional(),
  }),
  reasoning: z.object({
    turnId: z.string(),
    messageId: z.string(),
    model: z.string(),
    dialect: z.string(),
    /** The provider's own item, replayed verbatim to the model that made it; null when there is nothing to replay. */
    item: z.json(),
    summary: z.string(),
  }),
  provider_usage: z.object({
    turnId: z.string(),
    model: z.string(),
    iteration: z.number().int(),
    usage: usageSchema.nullable(),
    contextWindow: z.number().int().nullable(),
  }),
  tool_call: z.object({
    turnId: z.string(),
    callId: z.string(),
    name: z.string(),
    args: z.json(),
    title: z.string(),
    kind: toolKindSchema,
    locations: z.array(locationSchema).exactOptional(),
  }),
  tool_result: z.object({
    turnId: z.string(),
    callId: z.string(),
    ok: z.boolean(),
    /** What the model reads. */
    output: z.string(),
    error: failureSchema.exactOptional(),
    diffs: z.array(diffSchema).exactOptional(),
    dryRun: z.boolean().exactOptional(),
    /** How long the tool ran. */
    durationMs: z.number().int().exactOptional(),
    /** Of a process; null when a signal killed it. */
    exitCode: z.number().int().nullable().exactOptional(),
  }),
  permission_requested: z.object({
    turnId: z.string(),
    permissionId: z.string(),
    callId: z.string(),
    /** SHA-256 of the call's name and arguments: the decision covers exactly these. */
    argsHash: z.string(),
    expiresAt: z.iso.datetime(),
    /** What a decision that is remembered would cover; absent where none is. */
    rule: ruleOfferSchema.exactOptional(),
  }),
  permission_decision: z.object({
    turnId: z.string(),
    permissionId: z.string().exactOptional(),
    callId: z.string(),
    decision: z.enum(['allow', 'deny']),
    /** Who or what decided: a principal, or `mode`, `timeout`, `cancel`, `recovery`, `rule:` with its id. */
    by: z.string(),
    reason: z.string().exactOptional(),
  }),
  /** Made by the decision before it: from now on the same is decided alike, without asking. */
  permission_rule: z.object({
    ruleId: z.string(),
    decision: z.enum(['allow', 'deny']),
    tool: z.string(),
    ...ruleOfferSchema.shape,
    by: z.string(),
  }),
  permission_rule_revoked: z.object({ ruleId: z.string(), by: z.string() }),
  /** The model is shown this skill from here on, as it was when it was taken up. */
  skill_activation: z.object({ turnId: z.string(), ...skillSchema.shape, activatedBy: z.enum(['user', 'model']) }),
  plan: z.object({ turnId: z.string(), entries: z.array(planEntrySchema) }),
  /** A model is asked for a summary. It ends with one of the next two, or not at all where the Log ends. */
  compaction_started: z.object({
    turnId: z.string(),
    compactionId: z.string(),
    trigger: z.enum(['command', 'pressure', 'overflow']),
  }),
  /** From here on the model is shown the summary in place of what was before. Nothing is taken out of the Log. */
  history_compacted: z.object({
    turnId: z.string(),
    compactionId: z.string(),
    summary: z.string(),
    model: z.string(),
    usage: usageSchema.nullable(),
    contextWindow: z.number().int().nullable(),
  }),
  compaction_failed: z.object({
    turnId: z.string(),
    compactionId: z.string(),
    error: failureSchema,
    /** The Turn goes on without; otherwise its own end says why. */
    goesOn: z.literal(true).exactOptional(),
  }),
  turn_finished: z.object({
    turnId: z.string(),
    outcome: z.enum(TURN_OUTCOMES),
    stopReason: stopReasonSchema,
    error: failureSchema.exactOptional(),
    /** Who cancelled it. */
    by: bySchema,
  }),
} as const;

export type EventType = keyof typeof dataSchemas;
export const EVENT_TYPES = Object.keys(dataSchemas) as EventType[];

/** The data of an Event, by its type. */
export type EventData = { [T in EventType]: z.infer<(typeof dataSchemas)[T]> };

/** A canonical Event: `id` 16 hex digits, `seq` gapless from 0 in its Session, `ts` ISO 8601 UTC. */
export type Event<T extends EventType = EventType> = {
  [K in T]: { id: string; sessionId: string; seq: number; ts: string; type: K; data: EventData[K] };
}[T];

/** An Event that has not been recorded: the Log gives it `id`, `seq` and `ts`. */
export type EventDraft<T extends EventType = EventType> = {
  [K in T]: { sessionId: string; type: K; data: EventData[K] };
}[T];

/** What a Session's Log begins with. */
export type Beginning = readonly [EventDraft<'session_created'>, ...EventDraft[]];

export type Mode = z.infer<typeof modeSchema>;
export type PermissionMode = z.infer<typeof permissionModeSchema>;
export type ReasoningEffort = z.infer<typeof reasoningEffortSchema>;
export type ToolKind = z.infer<typeof toolKindSchema>;
export type StopReason = z.infer<typeof stopReasonSchema>;
export type TurnOutcome = (typeof TURN_OUTCOMES)[number];
export type ContentBlock = z.infer<typeof contentBlockSchema>;
export type PlanEntry = z.infer<typeof planEntrySchema>;
export type FileDiff = z.infer<typeof diffSchema>;
export type Location = z.infer<typeof locationSchema>;
export type Failure = z.infer<typeof failureSchema>;
export type RuleOffer = z.infer<typeof ruleOfferSchema>;
export type Usage = z.infer<typeof usageSchema>;
export type Json = z.infer<ReturnType<typeof z.json>>;

const envelopeSchema = z.object({
  id: z.string().regex(/^[0-9a-f]{16}$/),
  sessionId: z.string(),
  seq: z.number().int().nonnegative(),
  ts: z.iso.datetime(),
  type: z.enum(EVENT_TYPES),
});

/** Checks one Event whole: envelope, type and data. Throws ZodError. */
export function parseEvent(value: unknown): Event {
  const envelope = envelopeSchema.parse(value);
  const data = dataSchemas[envelope.type].parse((value as { data?: unknown }).data);
  return { ...envelope, data } as Event;
}

/** A fresh identifier: `prefix_` and 16 hex digits, or only the digits when there is no prefix. */
export function newId(prefix = ''): string {
  // Node keeps UUIDs in stock, so this costs a tenth of drawing random bytes; these digits of one are all random.
  const uuid = randomUUID();
  const digits = uuid.slice(0, 8) + uuid.slice(28);
  return prefix ? `${prefix}_${digits}` : digits;
}
