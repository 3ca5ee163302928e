/** The server under load, killed at random instants: real processes, the reference client, a model that takes its time. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, connect } from '../../src/client/connect.ts';
import { systemPorts } from '../../src/client/ports.ts';
import type { Session } from '../../src/client/session.ts';
import { openReadOnly } from '../../src/store/sqlite-reader.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { call, type Delta, gate, type ModelStep, message, thought } from '../support/fake-openai-steps.ts';
import { packagedPixir } from '../support/package.ts';
import { environmentFor, REPOSITORY, startPixir, startServer } from '../support/processes.ts';
import { seeded } from '../support/seeded.ts';
import { tempDir } from '../support/temp-dir.ts';
import { check, createWitness, type Kill, see, seeEnd, type Toll, type Witness } from './witness.ts';

const KILLS = process.env.PIXIR_NIGHTLY === '1' ? 200 : 20;
const SESSIONS = 4;
/** A server is killed somewhere in its first so many frames. */
const FRAMES = 160;
/** What a client received longer ago than this is not lost. */
const DRAFT_MS = 250;
/** A machine that is busy with other things is late with drafts as well: how late, its timers show. */
const lateness = monitorEventLoopDelay({ resolution: 5 });

type Random = () => number;

/** The model: now and then a call, otherwise text, slowly enough to be cut within it. Answers one request after the other. */
async function speak(fake: FakeOpenAi, random: Random, nextCall: () => string): Promise<never> {
  for (;;) {
    const gates = Array.from({ length: 10 + Math.floor(random() * 30) }, gate);
    const deltas: Delta[] = gates.flatMap(({ passed }, index) => [passed, `word ${index} `]);
    fake.answer(...answer(random(), deltas, nextCall()));
    await fake.next();
    void openSlowly(gates, random);
  }
}

function answer(choice: number, deltas: Delta[], callId: string): ModelStep[] {
  if (choice < 0.25) return [message('I write. '), call(callId, 'write', { path: callId, content: callId })];
  if (choice < 0.5) return [message('I run. '), call(callId, 'bash', { command: `echo ${callId} >> executions` })];
  return choice < 0.6 ? [thought(...deltas), message('So it is.')] : [message(...deltas)];
}

async function openSlowly(gates: ReturnType<typeof gate>[], random: Random): Promise<void> {
  for (const { open } of gates) {
    await pause(random() * 40);
    open();
  }
}

interface User {
  client: Client;
  session: Session;
  witness: Witness;
}

interface Arrival {
  url: string;
  token: string;
  cwd: string;
  random: Random;
  onFrame(): void;
  /** The last one. */
  kill: Kill;
}

async function enter({ url, token, cwd, random, onFrame, kill }: Arrival): Promise<User> {
  const witness = createWitness();
  let session: Session | undefined;
  const wire: typeof systemPorts.connect = (address, on) =>
    systemPorts.connect(address, {
      ...on,
      message(frame) {
        see(witness, frame);
        onFrame();
        on.message(frame);
      },
      closed(code) {
        seeEnd(witness, session?.permissions.keys() ?? [], kill);
        on.closed(code);
      },
    });
  // Sooner than usual: there is no crowd of clients that a server had to be spared.
  const ports = { connect: wire, random: () => 0.03 * random() };
  const client = connect(url, { token, ports });
  session = await client.newSession({ cwd });
  return { client, session, witness };
}

/** Prompts until told otherwise. Not one of them may fail, or stay without an answer. */
async function work({ session, witness }: User, goesOn: () => boolean): Promise<void> {
  for (let n = 1; goesOn(); n++) {
    const { stopReason } = await session.prompt(`Turn ${n}`);
    witness.answers.set(`Turn ${n}`, stopReason);
  }
}

/** Answers permissions like a person: not at once, and not always with yes. */
async function decide({ session }: User, random: Random, onQuestion: () => void): Promise<void> {
  for await (const change of session.changes()) {
    assert.notEqual(change.type, 'reset', 'a restart must not cost a client its place');
    if (change.type !== 'permission') continue;
    const { permissionId } = change.permission;
    onQuestion();
    void pause(random() * 700).then(() => session.answer(permissionId, random() < 0.8 ? 'allow' : 'reject'));
  }
}

function frameCounter() {
  let left = 0;
  let reached = () => {};
  return {
    count() {
      left--;
      if (left === 0) reached();
    },
    /** Resolves when so many more have come. */
    after(frames: number): Promise<void> {
      left = frames;
      return new Promise((resolve) => {
        reached = resolve;
      });
    },
  };
}

export function killing(): void {
  const name = `${SESSIONS} Sessions under load, killed ${KILLS} times: nothing acknowledged is lost, every prompt is answered, every Turn ends once`;
  test(`[CRASH1] ${name}`, { timeout: KILLS * 3_000 }, async (t) => {
    const random = seeded('kill');
    await using data = await tempDir();
    await using workspace = await tempDir();
    await using fake = await startFakeOpenAi();
    let calls = 0;
    for (let n = 0; n < 2 * SESSIONS; n++) void speak(fake, random, () => `call_${++calls}`);
    const env = {
      PIXIR_PROVIDER: 'openai',
      OPENAI_BASE_URL: fake.baseUrl,
      OPENAI_API_KEY: 'sk-test',
      PIXIR_PERMISSION_MODE: 'ask',
      PIXIR_WORKSPACES: workspace.path,
      PIXIR_LOG_LEVEL: 'silent',
    };
    const bin = await packagedPixir();
    await using lives = new AsyncDisposableStack();
    lateness.enable();
    lives.defer(() => void lateness.disable());
    let server = lives.use(await startServer(data.path, env, [], bin));
    const { url, token } = server;
    // The clients know this one address.
    const args = ['--port', new URL(url).port];
    const { count, after } = frameCounter();
    const kill: Kill = { at: 0, lateMs: 0 };
    const arrival = { url, token, cwd: workspace.path, random, onFrame: count, kill };
    const users = await Promise.all(Array.from({ length: SESSIONS }, () => enter(arrival)));
    const leave = () => {
      for (const { client } of users) client.close();
    };
    lives.defer(leave);
    // Out of time: then somebody waits for an answer that does not come.
    t.signal.addEventListener('abort', leave);
    let kills = 0;
    const working = Promise.all(users.map((user) => work(user, () => kills < KILLS)));
    const question = Promise.withResolvers<void>();
    for (const user of users) void decide(user, random, question.resolve);
    const instant = async () => {
      // The first does not leave it to chance that one comes while a permission waits.
      if (kills === 0) return question.promise;
      // Squared: many come soon, while the Turns recover, and some when much is under way.
      await after(1 + Math.floor(random() ** 2 * FRAMES));
      await pause(random() * 20);
    };
    while (kills < KILLS) {
      await Promise.race([instant(), working]);
      Object.assign(kill, { at: performance.now(), lateMs: lateness.max / 1e6 });
      server.child.kill('SIGKILL');
      await server.exit();
      lateness.reset();
      kills++;
      if (random() < 0.2) {
        // Not even the one that recovers is spared.
        await using _early = startPixir(['serve', ...args], environmentFor(data.path, env), undefined, bin);
        await pause(random() * 200);
      }
      server = lives.use(await startServer(data.path, env, args, bin));
    }
    await working;
    server.child.kill('SIGKILL');
    await server.exit();
    await checkAll(t, data.path, users);
    const executions = (await readFile(join(workspace.path, 'executions'), 'utf8')).trim().split('\n');
    assert.equal(new Set(executions).size, executions.length, 'a call ran twice');
  });
}

async function checkAll(t: TestContext, dataDir: string, users: readonly User[]): Promise<void> {
  const reader = openReadOnly({ file: join(dataDir, 'pixir.db'), migrationsDir: join(REPOSITORY, 'migrations') });
  try {
    assert.deepEqual(await reader.verifyDatabase(), []);
    const tolls: Toll[] = [];
    for (const { session, witness } of users) {
      const verdict = await reader.verifySession(session.id);
      assert.equal(verdict.ok, true, JSON.stringify(verdict));
      const entries = await reader.read(session.id, -1, 1_000_000);
      const events = entries.map(({ event }) => event);
      tolls.push(check(events, witness, session));
    }
    for (const toll of tolls) t.diagnostic(JSON.stringify(toll));
    const askedAgain = tolls.reduce((sum, toll) => sum + toll.askedAgain, 0);
    assert.ok(askedAgain > 0, 'no kill came while a permission waited');
    const oldest = Math.max(...tolls.map(({ oldestLossMs }) => oldestLossMs));
    assert.ok(oldest <= DRAFT_MS, `text was lost that had been shown for ${oldest} ms`);
  } finally {
    await reader.close();
  }
}
