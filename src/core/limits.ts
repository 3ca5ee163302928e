/**
 * What is in use, in all and of each owner: Sessions that are kept and Turns that run. It refuses what is new beyond the
 * limits and never touches what is there: a Turn that a restart continues is counted and not refused.
 */
import { CoreError } from './errors.ts';
import type { Log } from './log.ts';

export interface RuntimeLimits {
  /** Sessions that are kept. */
  sessions: number;
  sessionsPerOwner: number;
  /** Turns that run. */
  runningTurns: number;
  runningTurnsPerOwner: number;
}

export interface Usage {
  /** Makes a Session of this owner where there is a place for it. @throws CoreError `limit_exceeded`. */
  addSession<T>(owner: string, create: () => Promise<T>): Promise<T>;
  /** Gives back the place of a Session of this owner once `remove` has resolved. */
  removeSession(owner: string, remove: () => Promise<void>): Promise<void>;
  /** @param hasRoom on the disk. @throws CoreError `limit_exceeded` when no further Turn of this owner may begin. */
  assertTurn(owner: string, hasRoom: boolean): void;
  /** Counts a Turn that runs. @returns what is called once when it has ended. */
  addTurn(owner: string): () => void;
}

interface Count {
  used: number;
}

export function createUsage(log: Pick<Log, 'count'>, limits: RuntimeLimits): Usage {
  const sessions = new Map<string | undefined, Promise<Count>>();
  const turns = { all: { used: 0 }, of: new Map<string, Count>() };

  /**
   * Read from the Log once and then kept: nobody else writes to it, and every new Session passes here. So that of two
   * who want the last place one gets it, however long the Log takes to answer.
   */
  function kept(owner?: string): Promise<Count> {
    const known = sessions.get(owner);
    if (known !== undefined) return known;
    const counted = log.count(owner).then((used) => ({ used }));
    sessions.set(owner, counted);
    counted.catch(() => sessions.delete(owner));
    return counted;
  }

  return {
    async addSession(owner, create) {
      const [own, all] = await Promise.all([kept(owner), kept()]);
      assertBelow('sessions_per_owner', own, limits.sessionsPerOwner);
      assertBelow('sessions', all, limits.sessions);
      add(1, own, all);
      try {
        return await create();
      } catch (error) {
        add(-1, own, all);
        throw error;
      }
    },

    async removeSession(owner, remove) {
      const counts = await Promise.all([kept(owner), kept()]);
      await remove();
      add(-1, ...counts);
    },

    assertTurn(owner, hasRoom) {
      assertBelow('running_turns_per_owner', turns.of.get(owner) ?? NONE, limits.runningTurnsPerOwner);
      assertBelow('running_turns', turns.all, limits.runningTurns);
      if (!hasRoom)
        throw new CoreError('limit_exceeded', 'the disk of the server is nearly full', { limit: 'free_disk' });
    },

    addTurn(owner) {
      const own = turns.of.get(owner) ?? { used: 0 };
      turns.of.set(owner, own);
      add(1, own, turns.all);
      return () => {
        add(-1, own, turns.all);
        if (own.used === 0) turns.of.delete(owner);
      };
    },
  };
}

const NONE: Readonly<Count> = { used: 0 };

function assertBelow(limit: string, { used }: Readonly<Count>, max: number): void {
  if (used >= max) throw limitExceeded(limit, max);
}

function add(difference: 1 | -1, ...counts: Count[]): void {
  for (const count of counts) count.used += difference;
}

export function limitExceeded(limit: string, max: number): CoreError {
  return new CoreError('limit_exceeded', `the limit ${limit} (${max}) is reached`, { limit, max });
}
