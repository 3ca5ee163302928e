/** Plays one schedule: everybody does what it says, then everything is mended, and then the invariants must hold. */
import assert from 'node:assert/strict';
import { type Actor, createActor } from './actor.ts';
import { assertInvariants } from './invariants.ts';
import type { Act, Schedule } from './schedule.ts';
import { type Server, startServer, turnOfLoop } from './server.ts';

/** As many event-loop turns as anything in the model takes at most between two things that can be seen. */
const QUIET = 6;
const ROUNDS = 60;
/** Shorter than the heartbeat, so that a connection that works is heard. */
const ROUND_MS = 5_000;

export async function play({ cast, steps }: Schedule): Promise<void> {
  await using server = await startServer();
  let prompts = 0;
  const actors = cast.map((one, index) => createActor(`client ${index}`, server, one, () => ++prompts));
  try {
    const sessionId = await (actors[0] as Actor).create(server.dir);
    await Promise.all(actors.map((actor) => actor.open(sessionId)));
    for (const { turns, ...act } of steps) {
      await perform(server, actors, act);
      await pass(turns);
    }
    await settle(server, actors);
    const newcomer = createActor('newcomer', server, { role: 'observer', from: 'start', late: false }, () => 0);
    await newcomer.open(sessionId);
    actors.push(newcomer);
    await settle(server, actors);
    for (const { session } of actors) while (await session?.older(3));
    await assertInvariants(server, sessionId, actors);
  } finally {
    for (const { client } of actors) client.close();
  }
}

async function pass(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await turnOfLoop();
}

async function perform(server: Server, actors: readonly Actor[], act: Act): Promise<void> {
  const actor = actors[('who' in act ? act.who : 0) % actors.length] as Actor;
  switch (act.do) {
    case 'prompt':
      return actor.prompt(act.answer, act.blocks);
    case 'step':
      return server.grant(act.events);
    case 'answer':
      return actor.answer(act.option);
    case 'cancel':
      return actor.session?.cancel();
    case 'configure':
      return actor.configure(act.mode);
    case 'cut':
      return actor.network.cut();
    case 'cutAfter':
      return actor.cutAfter(act.frames, act.direction);
    case 'halfOpen':
      return actor.halfOpen();
    case 'pause':
      return actor.network.pause();
    case 'trickle':
      return actor.network.trickle(act.frames);
    case 'resume':
      return actor.network.resume();
    case 'reload':
      return actor.reload(act.killed);
    case 'reopen':
      return actor.reopen();
    case 'lose':
      return server.lose(act.deltas);
    case 'advance':
      return advance(server, actors, act.ms);
    case 'restart':
      return restart(server, actors);
  }
}

function advance(server: Server, actors: readonly Actor[], ms: number): void {
  server.advance(ms);
  for (const actor of actors) actor.advance(ms);
}

async function restart(server: Server, actors: readonly Actor[]): Promise<void> {
  const restarted = server.restart();
  for (const { network } of actors) {
    network.reachable = false;
    network.cut();
  }
  await restarted;
  for (const { network } of actors) network.reachable = true;
}

/** Liveness: with a network and an answer to everything, everybody comes to rest, and nobody stays behind. */
async function settle(server: Server, actors: readonly Actor[]): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    for (const actor of actors) {
      actor.heal();
      actor.answer('allow');
    }
    server.lose(0);
    server.grant(50);
    await pass(QUIET);
    if (actors.every(isAtRest)) return;
    // Most of what is waited for takes no time; the rest waits for a deadline.
    if (round > 10) advance(server, actors, ROUND_MS);
  }
  assert.fail(`they do not come to rest: ${JSON.stringify(actors.filter((actor) => !isAtRest(actor)).map(stateOf))}`);
}

function isAtRest({ client, session, asked, deceived }: Actor): boolean {
  if (deceived || client.state.kind !== 'live' || !session || session.running || session.permissions.size > 0)
    return false;
  return session.pending === undefined && asked.every(({ outcome }) => outcome !== 'pending');
}

function stateOf({ name, client, session, asked, deceived }: Actor) {
  const { running, permissions } = session ?? {};
  const pending = asked.filter(({ outcome }) => outcome === 'pending').map(({ what, text }) => `${what} ${text}`);
  return { name, state: client.state.kind, deceived, open: !!session, running, asked: permissions?.size, pending };
}
