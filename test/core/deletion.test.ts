/** A delete, and whatever else happens to the Session at the same moment: it is done before, or too late. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, configure, resume } from '../../src/core/conversation.ts';
import { CoreError } from '../../src/core/errors.ts';
import { fork, remove, setTitle, start } from '../../src/core/lifecycle.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { finish, say } from '../../src/providers/script.ts';
import { sendText } from '../support/send.ts';
import { type World, world } from '../support/world.ts';

const settled = () => new Promise(setImmediate);
const begin = async (w: World) => (await start(w.runtime, LOCAL, { workspace: w.dir })).id;
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error) => (error instanceof CoreError ? error.code : String(error)),
  );
const hello = [...say('Hello.'), finish()];
const hanging = [{ type: 'hang' as const }];

/** What others may do at the same moment, each as it would come from a client. */
const RIVALS: Record<string, (w: World, id: string) => Promise<unknown>> = {
  prompt: async (w, id) => (await sendText(w, id, 'late')).done,
  configure: (w, id) => configure(w.runtime, LOCAL, id, { mode: 'plan' }),
  title: (w, id) => setTitle(w.runtime, LOCAL, id, 'late'),
  attach: async (w, id) => (await attach(w.runtime, LOCAL, id, () => undefined)).stop(),
  fork: (w, id) => fork(w.runtime, LOCAL, { sessionId: id, workspace: w.dir }),
  delete: (w, id) => remove(w.runtime, LOCAL, id),
};

for (const [name, rival] of Object.entries(RIVALS)) {
  for (const running of [false, true]) {
    test(`[LIFE6] ${name} in the moment of a delete${running ? ' in mid-Turn' : ''}: done before it, or too late`, async () => {
      // One microtask or turn of the loop more each time: which one it takes is nobody's promise.
      for (let moment = -12; moment <= 12; moment++) {
        await using w = await world({ script: running ? [hanging, hanging] : [hanging] });
        const id = await begin(w);
        if (running) await sendText(w, id, 'go');
        const later = async (work: () => Promise<unknown>, wait: number) => {
          for (let n = 0; n < wait; n++) await (n % 4 === 3 ? settled() : undefined);
          return codeOf(work());
        };
        const [deleted, other] = await Promise.all([
          later(() => remove(w.runtime, LOCAL, id), -moment),
          later(() => rival(w, id), moment),
        ]);
        assert.equal(deleted, 'done');
        const allowed =
          name === 'prompt' ? ['done', 'unknown_session', 'turn_in_progress'] : ['done', 'unknown_session'];
        assert.ok(allowed.includes(other), `${other} at ${moment}`);
        assert.deepEqual(await w.events(id), [], `nothing is left at ${moment}`);
        assert.equal(await codeOf(resume(w.runtime, LOCAL, id)), 'unknown_session');
        assert.deepEqual(await w.runtime.sessions.all(), [], 'nobody holds it');
      }
    });
  }
}

test('[LIFE6] a Session that is opened in the moment of its delete is not there', async () => {
  for (let moment = 0; moment <= 12; moment++) {
    await using first = await world({ script: [hello] });
    const id = await begin(first);
    await (await sendText(first, id, 'one')).done;
    await using w = await first.restart();
    const opened = codeOf(resume(w.runtime, LOCAL, id));
    for (let n = 0; n < moment; n++) await undefined;
    await remove(w.runtime, LOCAL, id);
    assert.ok(['done', 'unknown_session'].includes(await opened));
    assert.deepEqual([await w.events(id), await w.runtime.sessions.all()], [[], []]);
  }
});

test('[LIFE6] while it is being deleted it is not there any more, also for who has begun', async () => {
  const remover = Promise.withResolvers<World>();
  let id = '';
  const hasRoom = async () => {
    const w = await remover.promise;
    await remove(w.runtime, LOCAL, id);
    return true;
  };
  await using w = await world({ script: [hello], hasRoom });
  id = await begin(w);
  const gate = Promise.withResolvers<void>();
  const { deleteSession } = w.log;
  w.log.deleteSession = async (sessionId) => {
    await gate.promise;
    await deleteSession(sessionId);
  };
  const watch = await attach(w.runtime, LOCAL, id, () => undefined);
  const begun = codeOf(sendText(w, id, 'late'));
  remover.resolve(w);
  await settled();
  for (const [name, rival] of Object.entries(RIVALS))
    if (name !== 'delete') assert.equal(await codeOf(rival(w, id)), 'unknown_session', name);
  gate.resolve();
  assert.equal(await begun, 'unknown_session');
  assert.equal(watch.session.phase.kind, 'deleted');
  watch.stop();
});

test('[LIFE6] where the Log cannot remove it, the Session goes on, and can be deleted later', async () => {
  await using w = await world({ script: [hello, hello] });
  const id = await begin(w);
  const watch = await attach(w.runtime, LOCAL, id, () => undefined);
  const remover = w.log.deleteSession;
  w.log.deleteSession = async () => {
    throw new CoreError('log_write_failed', 'the disk is broken');
  };
  assert.equal(await codeOf(remove(w.runtime, LOCAL, id)), 'log_write_failed');
  assert.equal((await (await sendText(w, id, 'on')).done).stopReason, 'end_turn');
  w.log.deleteSession = remover;
  await remove(w.runtime, LOCAL, id);
  assert.deepEqual(await w.events(id), []);
  watch.stop();
});
