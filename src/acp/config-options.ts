/** What a client may choose for a Session, as ACP modes and config options; always the complete list, in a fixed order. */
import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk';
import { CoreError } from '../core/errors.ts';
import {
  type EventData,
  MODES,
  type Mode,
  modeSchema,
  PERMISSION_MODES,
  type PermissionMode,
  permissionModeSchema,
  REASONING_EFFORTS,
  reasoningEffortSchema,
} from '../core/event.ts';
import { strictest } from '../core/permission.ts';
import type { RuntimeSettings } from '../core/runtime.ts';
import type { SessionState } from '../core/session-state.ts';

export const MODE_TEXTS: Record<Mode, { name: string; description: string }> = {
  build: { name: 'Build', description: 'Reads, changes files and runs commands.' },
  plan: { name: 'Plan', description: 'Investigates without changing anything, and makes a plan.' },
};

const PERMISSION_NAMES: Record<PermissionMode, string> = {
  auto: 'Act without asking',
  ask: 'Ask before changes and commands',
  read_only: 'Read only',
};

export function modeState({ mode }: Readonly<SessionState>): SessionModeState {
  return { currentModeId: mode, availableModes: MODES.map((id) => ({ id, ...MODE_TEXTS[id] })) };
}

type Chosen = Pick<SessionState, 'mode' | 'model' | 'effort' | 'permissionMode' | 'permissionCeiling'>;

/** In the order of importance that clients show: mode, model, reasoning_effort, permission_mode. */
export function configOptions(state: Readonly<Chosen>, settings: RuntimeSettings): SessionConfigOption[] {
  const permitted = PERMISSION_MODES.filter((mode) => strictest(state.permissionCeiling, mode) === mode);
  return [
    {
      id: 'mode',
      name: 'Mode',
      category: 'mode',
      type: 'select',
      currentValue: state.mode,
      options: MODES.map((value) => ({ value, ...MODE_TEXTS[value] })),
    },
    {
      id: 'model',
      name: 'Model',
      description: 'The model that answers.',
      category: 'model',
      type: 'select',
      currentValue: state.model ?? settings.models[0].id,
      options: settings.models.map(({ id, name }) => ({ value: id, name })),
    },
    {
      id: 'reasoning_effort',
      name: 'Reasoning effort',
      description: 'How long the model thinks before it answers.',
      category: 'thought_level',
      type: 'select',
      currentValue: state.effort ?? settings.effort,
      options: REASONING_EFFORTS.map((value) => ({ value, name: value })),
    },
    {
      id: 'permission_mode',
      name: 'Permissions',
      description: 'What may happen without asking.',
      type: 'select',
      currentValue: state.permissionMode,
      options: permitted.map((value) => ({ value, name: PERMISSION_NAMES[value] })),
    },
  ];
}

/** Those that a new Session has. */
export function newSessionOptions(settings: RuntimeSettings): SessionConfigOption[] {
  const { permissionCeiling } = settings;
  const chosen = { mode: 'build', model: undefined, effort: undefined } as const;
  return configOptions({ ...chosen, permissionCeiling, permissionMode: permissionCeiling }, settings);
}

/** The change that setting one option means. @throws CoreError `unsupported_value` for an option or value we do not have. */
export function configChange(configId: string, value: unknown): EventData['session_configured'] {
  const unsupported = () =>
    new CoreError('unsupported_value', 'unknown config option value', { configId, value: brief(value) });
  const read = <T>(parsed: { success: true; data: T } | { success: false }): T => {
    if (!parsed.success) throw unsupported();
    return parsed.data;
  };
  switch (configId) {
    case 'mode':
      return { mode: read(modeSchema.safeParse(value)) };
    case 'model':
      if (typeof value !== 'string') throw unsupported();
      return { model: value };
    case 'reasoning_effort':
      return { reasoningEffort: read(reasoningEffortSchema.safeParse(value)) };
    case 'permission_mode':
      return { permissionMode: read(permissionModeSchema.safeParse(value)) };
    default:
      throw new CoreError('unsupported_value', 'unknown config option', { configId: brief(configId) });
  }
}

/** Enough of a refused value to recognise it, never all of it. */
function brief(value: unknown): string {
  return String(value).slice(0, 64);
}
