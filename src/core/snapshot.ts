/**
 * The snapshot: a copy of the session state after one Event, so that a long Session opens without reading its whole Log.
 * It must never be believed unless it is certain to be what this build would fold from this very Log.
 */
import { CoreError } from './errors.ts';
import { chainCheck, type Entry, FIRST_CHK, type Log, type Snapshot } from './log.ts';
import { initialState, type SessionState } from './session-state.ts';

/** Another shape of the state, or another way to fold it, is another version. */
const VERSION = 'state.5';

/** A state, and the Event up to which it is folded. */
export interface Folded {
  state: SessionState;
  seq: number;
  chk: string;
}

/** Its check value goes on from the Event's, so that one comparison tells another Log, another version, and damage. */
export function takeSnapshot({ state, seq, chk }: Folded): Snapshot {
  const { openCalls, permissions, rules, prompts } = state;
  const json = JSON.stringify({
    ...state,
    openCalls: [...openCalls],
    permissions: [...permissions],
    rules: [...rules],
    prompts: [...prompts],
  });
  return { seq, json, chk: chainCheck(chk, VERSION, json) };
}

/** @param entry what the Log has at the snapshot's place. @returns undefined when the two do not fit. */
function restoreSnapshot({ seq, json, chk }: Snapshot, entry: Entry | undefined): Folded | undefined {
  if (entry?.event.seq !== seq || chainCheck(entry.chk, VERSION, json) !== chk) return undefined;
  const { openCalls, permissions, rules, prompts, ...rest } = JSON.parse(json);
  const state: SessionState = {
    ...rest,
    openCalls: new Map(openCalls),
    permissions: new Map(permissions),
    rules: new Map(rules),
    prompts: new Map(prompts),
  };
  return { state, seq, chk: entry.chk };
}

/** The newest point from which the Log must be folded: its snapshot, or its beginning. @throws CoreError `unknown_session`. */
export async function latestFold(log: Log, sessionId: string): Promise<Folded> {
  const snapshot = await log.snapshot(sessionId);
  if (snapshot) {
    const [entry] = await log.read(sessionId, snapshot.seq - 1, 1);
    const folded = restoreSnapshot(snapshot, entry);
    if (folded) return folded;
  }
  const [first] = await log.read(sessionId, -1, 1);
  if (!first) throw new CoreError('unknown_session', 'unknown session', { sessionId });
  return beginningWith(first);
}

/** The state before the first Event, whose data it takes. */
export function beginningWith({ event }: Entry): Folded {
  return { state: initialState(event), seq: -1, chk: FIRST_CHK };
}
