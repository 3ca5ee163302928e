/** The permission policy: pure, and the only place that knows what a mode allows. When in doubt it denies. */
import { hash } from 'node:crypto';
import type { Json, Mode, PermissionMode } from './event.ts';
import type { Effect } from './tool.ts';

export type Verdict = 'allow' | 'ask' | 'deny';

const STRICTNESS: Record<PermissionMode, number> = { auto: 0, ask: 1, read_only: 2 };

/** The strictest of several permission modes: a posture can be narrowed by anyone and widened by nobody. */
export function strictest(first: PermissionMode, ...others: (PermissionMode | undefined)[]): PermissionMode {
  return others.reduce<PermissionMode>((a, b) => (b && STRICTNESS[b] > STRICTNESS[a] ? b : a), first);
}

/** The permission mode in force: plan mode is read-only whatever else was chosen. */
export function effectivePermission(mode: Mode, ...modes: [PermissionMode, ...(PermissionMode | undefined)[]]) {
  return mode === 'plan' ? 'read_only' : strictest(...modes);
}

export function judge(permission: PermissionMode, effect: Effect): Verdict {
  if (effect === 'read') return 'allow';
  switch (permission) {
    case 'auto':
      return 'allow';
    case 'ask':
      return 'ask';
    case 'read_only':
      return 'deny';
  }
}

/** What a decision is bound to: the tool and its exact arguments. */
export function hashCall(name: string, args: Json): string {
  return hash('sha256', JSON.stringify([name, args]), 'hex');
}
