/**
 * Finding and ending everything a command started. On Linux that includes what left its process group or its parent;
 * elsewhere it is the process group. Never touches a process that the command did not start.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Carried by every process of one command that did not clear its environment. */
export const MARKER = 'PIXIR_CALL';

/** How long a process may take to end by itself once it was asked to. */
const GRACE_MS = 500;
/** How long to go on killing: longer only helps against a process that the kernel itself holds. */
const KILL_MS = 2_000;
const POLL_MS = 10;

export interface ProcessTree {
  /** The process that was started: the leader of its own group and session. */
  leader: number;
  marker: string;
  /** In clock ticks since boot; undefined where there is no /proc. Nothing older can belong to the command. */
  startedAt: number | undefined;
  /** The leader is a sandbox, whose end kills all that is inside at once. */
  confined: boolean;
}

interface ProcessStat {
  pid: number;
  state: string;
  parent: number;
  group: number;
  session: number;
  startedAt: number;
}

export function treeOf(leader: number, marker: string, confined = false): ProcessTree {
  return { leader, marker, startedAt: readStat(leader)?.startedAt, confined };
}

/** Ends the whole tree: first politely, then for certain. Returns how many processes were left when it began. */
export async function endTree(tree: ProcessTree): Promise<number> {
  const found = survivors(tree);
  if (found.length === 0) return 0;
  // Only a process that runs can end by itself: a stopped one is woken to receive the signal.
  const asked = tree.confined ? found.filter((pid) => pid !== tree.leader) : found;
  signalAll(asked, 'SIGTERM');
  signalAll(asked, 'SIGCONT');
  const graceful = await goneWithin(tree, GRACE_MS, () => {});
  if (!graceful) await goneWithin(tree, KILL_MS, (pids) => signalAll(pids, 'SIGKILL'));
  return found.length;
}

async function goneWithin(tree: ProcessTree, ms: number, each: (pids: number[]) => void): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (let clean = 0; performance.now() < deadline; ) {
    const pids = survivors(tree);
    clean = pids.length === 0 ? clean + 1 : 0;
    // One look can miss a process that was being born during it.
    if (clean === 2) return true;
    each(pids);
    await delay(clean === 1 ? 1 : POLL_MS);
  }
  return false;
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended in between, or is not ours to signal (sudo): nothing is left to do about it.
    }
  }
}

/** What `process.kill` must reach: processes on Linux, the group (a negative number) elsewhere. */
function survivors(tree: ProcessTree): number[] {
  return tree.startedAt === undefined ? aliveGroup(tree.leader) : descendants(tree, tree.startedAt);
}

function aliveGroup(leader: number): number[] {
  try {
    process.kill(-leader, 0);
    return [-leader];
  } catch {
    return [];
  }
}

function descendants(tree: ProcessTree, startedAt: number): number[] {
  const younger = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(Number(name)) ?? [])
    .filter((stat) => stat.startedAt >= startedAt);
  const ours = new Set(younger.filter((stat) => belongs(stat, tree)).map((stat) => stat.pid));
  // Children of what is ours are ours, whatever they did to their group and environment.
  for (let before = -1; before !== ours.size; ) {
    before = ours.size;
    for (const { pid, parent } of younger) if (ours.has(parent)) ours.add(pid);
  }
  return younger.filter(({ pid, state }) => ours.has(pid) && state !== 'Z' && state !== 'X').map(({ pid }) => pid);
}

function belongs(stat: ProcessStat, tree: ProcessTree): boolean {
  if (stat.group === tree.leader || stat.session === tree.leader) return true;
  return readProc(stat.pid, 'environ').split('\0').includes(`${MARKER}=${tree.marker}`);
}

function readStat(pid: number): ProcessStat | undefined {
  const text = readProc(pid, 'stat');
  // The second field is the command in parentheses, which may itself hold spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session] = fields;
  if (!state || fields.length < 20) return undefined;
  const startedAt = Number(fields[19]);
  return { pid, state, parent: Number(parent), group: Number(group), session: Number(session), startedAt };
}

/** Empty when the process is gone, belongs to someone else, or there is no /proc. */
function readProc(pid: number, file: 'stat' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
