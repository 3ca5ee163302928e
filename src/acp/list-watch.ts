/**
 * Tells one client that shows the list of Sessions which lines of it may have changed: a wake-up, with the lines as they
 * are now. It is no record, and nothing may depend on it: it buffers ids only, says several changes as one, and is silent
 * while the client does not read.
 */
import type { Principal } from '../core/principal.ts';
import { onChange, readRows } from '../core/session-list.ts';
import type { Agent } from './agent.ts';
import type { FeedSink } from './feed-ports.ts';
import { encodeNotification } from './jsonrpc.ts';
import { sessionInfo } from './session-info.ts';
import type { SessionsChanged } from './wire.ts';

const EVERY_MS = 250;
/** As many as a page of the list; what is left is told the next time. */
const MAX_LINES = 50;

export interface ListWatch {
  /** Does nothing where it is begun already. @throws CoreError `forbidden`. */
  begin(): void;
  end(): void;
}

export function listWatch(agent: Agent, principal: Principal, sink: Pick<FeedSink, 'send' | 'congested'>): ListWatch {
  let end: (() => void) | undefined;
  return {
    begin() {
      end ??= watchList(agent, principal, sink);
    },
    end() {
      end?.();
      end = undefined;
    },
  };
}

function watchList(
  { runtime, onError }: Agent,
  principal: Principal,
  sink: Pick<FeedSink, 'send' | 'congested'>,
): () => void {
  const { clock } = runtime;
  const changed = new Set<string>();
  const removed = new Set<string>();
  let notBefore = 0;
  /** Calls off what is to be said next. While there is one, it will see whatever changes. */
  let cancel: (() => void) | undefined;
  let ended = false;

  const leave = onChange(runtime, principal, (sessionId, gone) => {
    if (gone) changed.delete(sessionId);
    (gone ? removed : changed).add(sessionId);
    plan();
  });

  function plan(): void {
    if (ended || changed.size + removed.size === 0) return;
    cancel ??= clock.after(Math.max(0, notBefore - clock.now()), () => void tell().catch(onError).finally(again));
  }

  function again(): void {
    notBefore = clock.now() + EVERY_MS;
    cancel = undefined;
    plan();
  }

  async function tell(): Promise<void> {
    if (sink.congested()) return;
    const ids = [...changed].slice(0, MAX_LINES);
    for (const sessionId of ids) changed.delete(sessionId);
    const said: SessionsChanged = { sessions: [], removed: [...removed] };
    removed.clear();
    for (const row of await readRows(runtime, principal, ids)) said.sessions.push(sessionInfo(runtime, row));
    if (ended || said.sessions.length + said.removed.length === 0) return;
    sink.send(encodeNotification('_pixir/sessions/changed', said));
  }

  return () => {
    ended = true;
    leave();
    cancel?.();
  };
}
