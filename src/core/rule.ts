/**
 * What a remembered decision covers: one exact key of one tool, and the words in which a person is told so. Pure; it
 * must never cover more than those words say.
 */
import { hash } from 'node:crypto';
import type { Json, RuleOffer } from './event.ts';
import type { PermissionRule, SessionState } from './session-state.ts';
import type { Tool } from './tool.ts';
import { visible, visibleJson } from './visible.ts';

const MAX_RULES = 500;
const MAX_TEXT = 200;

/** What a rule for this call covers; undefined where that cannot be said in full. */
export function ruleOffer(tool: Tool, given: Json, args: Record<string, unknown>): RuleOffer | undefined {
  const { key, text: what } = tool.rule?.(args) ?? { key: given, text: `with ${JSON.stringify(given)}` };
  const text = visible(`"${tool.name}" ${what}`);
  // Before the key is looked at: what can be said in so few characters is no burden to hash.
  if (ruleText('deny', text).length > MAX_TEXT) return undefined;
  return { keyHash: hash('sha256', canonical(key), 'hex'), text };
}

/** The rule as it is offered. */
export function ruleText(decision: PermissionRule['decision'], text: string): string {
  return `Always ${decision === 'allow' ? 'allow' : 'reject'} ${text}`;
}

/** Whether a decision on these arguments may become a rule: not where the person has reason to be careful. */
export function mayBeOffered(state: SessionState, args: Json): boolean {
  return rulesInForce(state).length < MAX_RULES && visibleJson(args).warnings.length === 0;
}

export function rulesInForce({ rules }: SessionState): PermissionRule[] {
  return [...rules.values()].filter((rule) => rule !== null);
}

/** The same text for the same value, in whatever order its members came. */
function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
}
