import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { packagedPixir } from '../support/package.ts';
import { environmentFor, runPixir, startPixir, startServer, type Variables } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { connectWebSocket } from '../support/ws-wire.ts';

const bin = await packagedPixir();

/** A data directory of its own, and `pixir` in it. */
async function sandbox(extra: Variables = {}) {
  const dir = await tempDir();
  const env = environmentFor(dir.path, extra);
  const pixir = (...args: string[]) => runPixir(args, env, '', dir.path, bin);
  return { path: dir.path, env, pixir, [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose]() };
}

/** Everything that keeps a server from starting is one line that says what to do, and exit code 1. */
async function refusesToStart(env: Variables, expected: RegExp, args = ['serve', '--port', '0']): Promise<void> {
  const { code, stdout, stderr } = await runPixir(args, env, '', undefined, bin);
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, expected);
  assert.match(stderr, /^pixir: [^\n]+\n$/, 'one line');
}

export function commands(): void {
  test('[CLI1] --version, help and usage errors', async () => {
    await using box = await sandbox();
    assert.match((await box.pixir('--version')).stdout, /^\d+\.\d+\.\d+\n$/);
    assert.match((await box.pixir('--help')).stdout, /serve.*acp.*run/s);
    assert.match((await box.pixir('help', 'serve')).stdout, /--port/);
    for (const args of [
      [],
      ['nope'],
      ['run'],
      ['run', 'x', '--nope'],
      ['sessions'],
      ['backup'],
      ['run', 'x', '--mode', 'y'],
    ]) {
      const { code, stderr, stdout } = await box.pixir(...args);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr, /^pixir: .+ Try: pixir help\n$/);
    }
  });

  test('[CLI2] run streams the answer; --json prints Events; the exit code says how it ended', async () => {
    await using box = await sandbox();
    const said = await box.pixir('run', 'echo hello there');
    assert.deepEqual([said.code, said.stdout.trim()], [0, 'hello there']);
    const json = await box.pixir('run', '--json', 'write a.txt hello');
    const events = json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
    );
    assert.equal(events.at(-1).type, 'turn_finished');
    assert.equal(await readFile(join(box.path, 'a.txt'), 'utf8'), 'hello');
    const denied = await box.pixir('run', '--permission-mode', 'ask', 'write b.txt hello');
    assert.equal(denied.code, 3);
    assert.ok(!existsSync(join(box.path, 'b.txt')), 'nobody at the terminal: nobody said yes');
    const again = await box.pixir('run', '--session', events[0].sessionId, 'echo again');
    assert.deepEqual([again.code, again.stdout.trim()], [0, 'again']);
  });

  test('[CLI3] an interrupted run ends with 130 and its Turn is closed', async () => {
    await using box = await sandbox();
    await using running = startPixir(['run', 'hang'], box.env, box.path, bin);
    await new Promise<void>((resolve) => running.child.stdout?.once('data', () => resolve()));
    running.child.kill('SIGINT');
    assert.equal((await running.exit()).code, 130);
    const { stdout } = await box.pixir('sessions', 'list');
    assert.match(stdout, /\tidle\t/);
  });

  test('[CLI4] a model that fails: the reason on stderr, exit code 1', async () => {
    await using box = await sandbox({ PIXIR_PROVIDER: 'openai' });
    const { code, stderr } = await box.pixir('run', 'hello');
    assert.equal(code, 1);
    assert.match(stderr, /OPENAI_API_KEY/, 'and it says what to do');
  });

  test('[CLI5] sessions: list, show, export, verify, delete', async () => {
    await using box = await sandbox();
    await box.pixir('run', 'write a.txt hello');
    const id = (await box.pixir('sessions', 'list')).stdout.split('\t')[0] ?? '';
    assert.match((await box.pixir('sessions', 'show', id)).stdout, /## User\n\nwrite a\.txt hello/);
    const lines = (await box.pixir('sessions', 'export', id)).stdout.trim().split('\n');
    assert.equal(JSON.parse(lines[0] ?? '').type, 'session_created');
    assert.match((await box.pixir('sessions', 'export', id, '--markdown')).stdout, /### write a\.txt/);
    assert.deepEqual(
      [(await box.pixir('sessions', 'verify')).code, (await box.pixir('sessions', 'verify', id)).code],
      [0, 0],
    );
    assert.equal((await box.pixir('sessions', 'show', 'nobody')).code, 1);
    assert.equal((await box.pixir('sessions', 'delete', id)).code, 0);
    assert.equal((await box.pixir('sessions', 'list')).stdout, '');
  });

  test('[CLI6] verify finds a changed Event and says where', async () => {
    await using box = await sandbox();
    await box.pixir('run', 'echo hello');
    const db = new Database(join(box.path, 'pixir.db'));
    db.prepare("UPDATE events SET json = replace(json, 'hello', 'jello') WHERE seq = 2").run();
    db.close();
    const { code, stdout } = await box.pixir('sessions', 'verify');
    assert.equal(code, 1);
    assert.match(stdout, /BAD at seq 2/);
  });

  test('[CLI7] backup and verify work beside a running server, and backup replaces nothing', async () => {
    await using dir = await tempDir();
    await using server = await startServer(dir.path, {}, ['--workspace', dir.path], bin);
    const { client } = await connectWebSocket(server);
    await client.initialize();
    const sessionId = await client.newSession(dir.path);
    await client.prompt(sessionId, 'echo hello');
    const env = environmentFor(dir.path);
    const copy = join(dir.path, 'copy.db');
    assert.equal((await runPixir(['backup', copy], env, '', undefined, bin)).code, 0);
    assert.match((await runPixir(['backup', copy], env, '', undefined, bin)).stderr, /exists/);
    assert.match((await runPixir(['sessions', 'verify'], env, '', undefined, bin)).stdout, /7 events\tok/);
    client.assertSound();
  });

  test('[CLI8] doctor says what is wrong and what to do', async () => {
    await using box = await sandbox({ PIXIR_PORT: '0' });
    const good = await box.pixir('doctor', '--json');
    assert.equal(good.code, 0, good.stdout);
    assert.deepEqual(JSON.parse(good.stdout).ok, true);
    await writeFile(join(box.path, 'pixir.db'), 'this is no database, but it is long enough to look like a file');
    const bad = await box.pixir('doctor');
    assert.equal(bad.code, 1);
    assert.match(bad.stdout, /FAIL\s+database: .+/);
  });

  test('[CLI9] token: create prints the token and nothing else, it works at once, and revoked it ends', async () => {
    await using dir = await tempDir();
    await using server = await startServer(dir.path, { PIXIR_LOG_LEVEL: 'debug' }, ['--workspace', dir.path], bin);
    const env = environmentFor(dir.path);
    const pixir = (...args: string[]) => runPixir(args, env, '', dir.path, bin);
    const made = await pixir('token', 'create', 'phone', '--scope', 'observe', '--scope', 'prompt', '--expires', '30d');
    assert.match(made.stdout, /^pixir_[\w-]{43}\n$/);
    assert.deepEqual([made.code, made.stderr], [0, '']);
    const token = made.stdout.trim();
    const { client, socket } = await connectWebSocket({ url: server.url, token });
    await client.initialize();
    const sessionId = await client.newSession(dir.path);
    await client.prompt(sessionId, 'echo hello');
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));

    assert.equal((await pixir('token', 'create', 'phone')).code, 1, 'there is one of this name');
    await pixir('token', 'create', 'bot', '--owner', 'team', '--workspace', dir.path);
    const { stdout: list } = await pixir('token', 'list');
    assert.match(
      list,
      /^bot\tteam\tobserve,prompt,approve\t\/[^\t]+\t[^\t]+\texpires never\nphone\tlocal\tobserve,prompt\tany/,
    );
    assert.match((await pixir('sessions', 'audit', sessionId)).stdout, /\tphone\tprompt\t/);

    assert.deepEqual((await pixir('token', 'revoke', 'phone')).code, 0);
    assert.equal(await closed, 4401);
    const unknown = await pixir('token', 'revoke', 'phone');
    assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
    client.assertSound();
    server.child.kill('SIGTERM');
    await server.exit();
    const digest = createHash('sha256').update(token).digest('hex');
    for (const canary of [token.slice('pixir_'.length), digest])
      assert.ok(!`${list}${server.stderr()}`.includes(canary));
    for (const file of await readdir(dir.path, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      assert.ok(!(await readFile(join(file.parentPath, file.name), 'latin1')).includes(token), file.name);
    }
  });

  test('[CLI9] token: usage errors, and nothing that could be taken for somebody else', async () => {
    await using box = await sandbox();
    for (const args of [
      [],
      ['make'],
      ['create'],
      ['create', 'a', 'b'],
      ['create', '../token'],
      ['create', 'local'],
      ['create', 'timeout'],
      ['create', 'a', '--scope', 'root'],
      ['create', 'a', '--owner', 'a b'],
      ['create', 'a', '--expires', 'soon'],
      ['create', 'a', '--expires', '0d'],
      ['revoke', '../token'],
    ]) {
      const { code, stdout, stderr } = await box.pixir('token', ...args);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr, /^pixir: .+ Try: pixir help\n$/);
    }
    const lost = await box.pixir('token', 'create', 'a', '--workspace', join(box.path, 'nowhere'));
    assert.deepEqual([lost.code, lost.stdout], [1, '']);
    assert.equal((await box.pixir('token', 'list')).stdout, '');
  });

  test('[CLI10] sessions audit: who did what, one line each, of one Session or all', async () => {
    await using box = await sandbox();
    await box.pixir('run', '--permission-mode', 'ask', 'write b.txt secret');
    const forged = join(box.path, 'a\n2026\tx\troot\tallow');
    await mkdir(forged);
    await box.pixir('run', '--cwd', forged, 'echo secret');
    const { code, stdout } = await box.pixir('sessions', 'audit');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    assert.equal(code, 0);
    assert.deepEqual(lines.map(([, , by, what]) => `${by} ${what}`).sort(), [
      'local create',
      'local create',
      'local deny',
      'local prompt',
      'local prompt',
    ]);
    assert.equal(lines.find(([, , , what]) => what === 'deny')?.[4], 'write b.txt');
    const one = (await box.pixir('sessions', 'audit', lines[0]?.[1] ?? '')).stdout;
    assert.ok(stdout.includes(one) && one.length < stdout.length);
    assert.equal((await box.pixir('sessions', 'audit', 'nobody')).code, 1);
  });

  test('[START1] a second server on the same data directory', async () => {
    await using dir = await tempDir();
    await using server = await startServer(dir.path, {}, [], bin);
    await refusesToStart(environmentFor(dir.path), new RegExp(`process ${server.child.pid}`));
  });

  test('[START2] a port in use', async () => {
    await using dir = await tempDir();
    const blocker = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => blocker.once('listening', resolve));
    const { port } = blocker.address() as { port: number };
    await refusesToStart(environmentFor(dir.path), /in use.*--port/, ['serve', '--port', String(port)]);
    blocker.close();
  });

  test('[START3] a corrupt and a newer database', async () => {
    await using dir = await tempDir();
    await mkdir(dir.path, { recursive: true });
    await writeFile(join(dir.path, 'pixir.db'), Buffer.alloc(8192, 'junk'));
    await refusesToStart(environmentFor(dir.path), /pixir\.db/);
    await using newer = await tempDir();
    await runPixir(['run', 'echo x'], environmentFor(newer.path), '', newer.path, bin);
    const db = new Database(join(newer.path, 'pixir.db'));
    db.prepare(
      "INSERT INTO schema_migrations (version, name, sha256, applied_at) VALUES (99, 'future', 'x', 'x')",
    ).run();
    db.close();
    await refusesToStart(environmentFor(newer.path), /newer/i);
  });

  test('[START4] a bad configuration names the key and where it came from', async () => {
    await using dir = await tempDir();
    await refusesToStart(environmentFor(dir.path, { PIXIR_PORT: 'many' }), /PIXIR_PORT \(environment\)/, ['serve']);
    await appendFile(join(dir.path, 'config.json'), '{"colour": "red"}');
    await refusesToStart(environmentFor(dir.path), /colour/);
  });

  for (const [signal, state] of [
    ['SIGTERM', 'running'],
    ['SIGINT', 'idle'],
  ] as const) {
    test(`[STOP2] ${signal}: clients are told to come back, the Turn is ${state} in the Log, exit code 0`, async () => {
      await using dir = await tempDir();
      await using server = await startServer(dir.path, {}, ['--workspace', dir.path], bin);
      const { client, socket } = await connectWebSocket(server);
      await client.initialize({ _meta: { pixir: { cursor: 1 } } });
      const sessionId = await client.newSession(dir.path);
      client.prompt(sessionId, 'hang').catch(() => undefined);
      await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
      const closed = new Promise<number>((resolve) => socket.once('close', resolve));
      server.child.kill(signal);
      assert.equal(await closed, 1012);
      assert.equal(client.frames.at(-1)?.method, '_pixir/server/draining');
      assert.equal((await server.exit()).code, 0);
      const { stdout } = await runPixir(['sessions', 'list'], environmentFor(dir.path), '', undefined, bin);
      assert.match(stdout, new RegExp(`\\t${state}\\t`));
    });
  }
}
