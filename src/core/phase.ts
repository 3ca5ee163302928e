/** What a Session is doing, and how its Turns are stopped and end. States only: the Session holds them. */
import type { TurnEnding } from './closing.ts';
import { CoreError } from './errors.ts';
import type { StopReason } from './event.ts';

/** How a Turn ended, and the position in the Log at which a reader has seen all of it. */
export interface TurnEnd {
  turnId: string;
  stopReason: StopReason;
  seq: number;
}

/** Why a Turn is being stopped; the reason its AbortSignal carries. */
export class TurnAbort extends Error {
  override readonly name = 'AbortError';
  /** `suspend`: the Turn stays open, to be continued by the next process. */
  readonly ending: TurnEnding | 'suspend';

  constructor(ending: TurnEnding | 'suspend') {
    super('the Turn was stopped');
    this.ending = ending;
  }
}

export interface RunningTurn {
  turnId: string;
  abort: AbortController;
  /** Settles when the Turn has ended; rejects only when its end could not be recorded. */
  done: Promise<TurnEnd>;
  /** While the prompt that begins it is being recorded; rejects when it cannot be. */
  opening?: Promise<unknown> | undefined;
}

export type Phase =
  | { kind: 'idle' }
  | { kind: 'running'; turn: RunningTurn }
  /** A Turn is open in the Log and nothing runs it: a crash, or an orderly stop, cut it. */
  | { kind: 'stranded' }
  /** The Log refused a write, so what is recorded is unknown until it has been read again. */
  | { kind: 'faulted'; turn: RunningTurn | undefined }
  /** Nothing is recorded any more; `done` rejects when the Log could not be removed. */
  | { kind: 'deleting'; done: Promise<void> }
  /** There is no such Session any more, only readers that are still to be told. */
  | { kind: 'deleted' };

/** @throws CoreError `unknown_session` once the Session is being deleted. */
export function assertThere({ id: sessionId, phase }: { id: string; phase: Phase }): void {
  if (phase.kind !== 'deleting' && phase.kind !== 'deleted') return;
  throw new CoreError('unknown_session', 'unknown session', { sessionId });
}
