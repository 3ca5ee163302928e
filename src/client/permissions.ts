/**
 * The permissions of one Session that wait for a decision. A decision that the server has not taken is kept, and given
 * again when the server asks again; a question that it no longer asks is settled.
 */
import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import type { RequestId } from './rpc.ts';

export interface Permission {
  permissionId: string;
  request: RequestPermissionRequest;
}

export interface PermissionEvents {
  respond(id: RequestId, response: RequestPermissionResponse): void;
  asked(permission: Permission): void;
  settled(permissionId: string): void;
}

export interface Permissions {
  readonly open: ReadonlyMap<string, Permission>;
  /** The server asks, perhaps again. */
  ask(id: RequestId, request: RequestPermissionRequest): void;
  /** The server withdraws a question; false when it is none of ours. */
  withdraw(id: RequestId): boolean;
  /** @param optionId one of those offered, or null for neither. */
  answer(permissionId: string, optionId: string | null): void;
  /** The connection has gone, and its questions with it; the permissions wait on. */
  disconnected(): void;
  /** These wait at the server; what is not among them is settled. */
  keepOnly(permissionIds: readonly string[]): void;
}

export function createPermissions({ respond, asked, settled }: PermissionEvents): Permissions {
  const open = new Map<string, Permission>();
  /** The questions on this connection. */
  const questions = new Map<RequestId, string>();
  const decisions = new Map<string, string | null>();

  function reply(id: RequestId, optionId: string | null): void {
    questions.delete(id);
    respond(id, { outcome: optionId === null ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } });
  }

  function settle(permissionId: string): void {
    if (open.delete(permissionId)) settled(permissionId);
  }

  return {
    open,
    ask(id, request) {
      const meta = request._meta?.pixir as { permissionId?: string } | undefined;
      const permissionId = meta?.permissionId ?? String(id);
      const decided = decisions.get(permissionId);
      if (decided !== undefined) return reply(id, decided);
      questions.set(id, permissionId);
      if (open.has(permissionId)) return;
      const permission = { permissionId, request };
      open.set(permissionId, permission);
      asked(permission);
    },
    withdraw(id) {
      const permissionId = questions.get(id);
      if (permissionId === undefined) return false;
      questions.delete(id);
      settle(permissionId);
      return true;
    },
    answer(permissionId, optionId) {
      if (!open.has(permissionId)) return;
      decisions.set(permissionId, optionId);
      for (const [id, asked] of [...questions]) if (asked === permissionId) reply(id, optionId);
      settle(permissionId);
    },
    disconnected: () => questions.clear(),
    keepOnly(permissionIds) {
      for (const id of [...open.keys()]) if (!permissionIds.includes(id)) settle(id);
      for (const id of [...decisions.keys()]) if (!permissionIds.includes(id)) decisions.delete(id);
    },
  };
}
