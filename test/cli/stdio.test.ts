import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { Transport } from '../../src/acp/transport.ts';
import { type StdioOptions, serveStdio } from '../../src/cli/stdio.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { ROOT, runModule } from './support.ts';

/** A Peer between two streams of the test's own, which says everything back. */
function serve(input: Readable, output: Writable, options: Partial<StdioOptions> = {}) {
  const received: string[] = [];
  let closed = 0;
  let transport: Transport | undefined;
  const done = serveStdio({
    input,
    output,
    principal: LOCAL,
    openPeer: (opened) => {
      transport = opened;
      return {
        receive(line) {
          received.push(line);
          opened.send(line);
        },
        draining() {},
        async idle() {},
        closed() {
          closed += 1;
        },
      };
    },
    ...options,
  });
  assert.ok(transport);
  return { done, received, transport, closed: () => closed };
}

async function linesOf(chunks: readonly (string | Buffer)[], options: Partial<StdioOptions> = {}): Promise<string[]> {
  const input = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  const { done, received } = serve(input, new PassThrough().resume(), options);
  await done;
  return received;
}

test('[STDIO1] messages end at LF and nowhere else', async () => {
  assert.deepEqual(await linesOf(['one\ntwo\n']), ['one', 'two']);
  assert.deepEqual(await linesOf(['o', 'ne\nt', 'wo', '\n']), ['one', 'two']);
  assert.deepEqual(await linesOf(['a\u2028b\u2029c\u0085d\vf\fg\rh\n']), ['a\u2028b\u2029c\u0085d\vf\fg\rh']);
  assert.deepEqual(await linesOf(['one\r\ntwo\r', '\n']), ['one', 'two']);
  assert.deepEqual(await linesOf(['\n\r\n  \n\t\none\n\n']), ['one']);
  assert.deepEqual(await linesOf(['one\nlast without newline']), ['one', 'last without newline']);
  assert.deepEqual(await linesOf([]), []);
});

test('[STDIO2] a character may be torn between chunks at any byte', async () => {
  const line = '{"a":"ä€😀\u2028"}';
  const bytes = Buffer.from(`${line}\n${line}\n`);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    assert.deepEqual(await linesOf([bytes.subarray(0, cut), bytes.subarray(cut)]), [line, line], `cut at ${cut}`);
  }
  assert.deepEqual(await linesOf([...bytes].map((byte) => Buffer.of(byte))), [line, line]);
});

test('[STDIO2] bytes that are not UTF-8 become U+FFFD and the next line is whole', async () => {
  assert.deepEqual(await linesOf([Buffer.of(0x7b, 0xff, 0xc3), '\nnext\n']), ['{\ufffd\ufffd', 'next']);
});

test('[STDIO3] a line at the limit passes; one byte more ends the connection before the line does', async () => {
  assert.deepEqual(await linesOf(['1234', '5678\n12345678\n'], { maxLineBytes: 8 }), ['12345678', '12345678']);
  for (const chunks of [['123456789\n'], ['ok\n123456789'], ['ok\n12345', '6789\nnever\n']]) {
    const input = new PassThrough();
    const peer = serve(input, new PassThrough().resume(), { maxLineBytes: 8 });
    for (const chunk of chunks) input.write(chunk);
    await assert.rejects(peer.done, { name: 'CoreError', code: 'too_large' });
    assert.equal(peer.closed(), 1);
    assert.ok(input.destroyed);
    assert.ok(!peer.received.includes('never'));
  }
});

test('[STDIO4] what is sent in one tick is written in one piece, each message on its line', async () => {
  const chunks: string[] = [];
  const output = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  const { transport } = serve(new PassThrough(), output);
  const drained = Promise.withResolvers<void>();
  transport.onDrain(drained.resolve);
  for (const message of ['one', 'two', 'thr\u2028ee']) transport.send(message);
  assert.deepEqual(chunks, []);
  assert.ok(transport.bufferedAmount > 0);
  await drained.promise;
  assert.deepEqual(chunks, ['one\ntwo\nthr\u2028ee\n']);
  assert.equal(transport.bufferedAmount, 0);
});

test('[STDIO5] a reader that stops makes bufferedAmount grow; onDrain follows when it goes on', async () => {
  const output = new PassThrough();
  const { transport } = serve(new PassThrough(), output);
  const drained = Promise.withResolvers<number>();
  transport.onDrain(() => drained.resolve(transport.bufferedAmount));
  const message = 'x'.repeat(64 * 1024);
  for (let index = 0; index < 100; index += 1) {
    transport.send(message);
    await null;
  }
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(transport.bufferedAmount >= 99 * message.length);
  output.resume();
  assert.equal(await drained.promise, 0);
});

test('[STDIO6] the end of the input ends the connection once, after everything sent has been written', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const peer = serve(input, output);
  input.write('one\n');
  input.end('two');
  const said = text(output);
  await peer.done;
  assert.equal(peer.closed(), 1);
  peer.transport.send('too late');
  peer.transport.close(1000, 'again');
  output.end();
  assert.equal(await said, 'one\ntwo\n');
  assert.equal(peer.closed(), 1);
});

test('[STDIO6] what was asked before the input ended is still answered, once what would go on for ever was stopped', async () => {
  const steps: string[] = [];
  const asked = Promise.withResolvers<void>();
  const output = new PassThrough();
  const done = serveStdio({
    input: Readable.from([Buffer.from('question\n')]),
    output,
    principal: LOCAL,
    openPeer: (transport) => ({
      receive: () => steps.push('asked'),
      draining() {},
      async idle() {
        await asked.promise;
        steps.push('answered');
        transport.send('answer');
      },
      closed: () => steps.push('closed'),
    }),
    async inputEnded() {
      steps.push('stopped');
      asked.resolve();
    },
  });
  await done;
  assert.deepEqual(steps, ['asked', 'stopped', 'answered', 'closed']);
  assert.equal(String(output.read()), 'answer\n');
});

/** An output whose reader takes one piece per turn of the event loop. */
function slowOutput() {
  const taken: string[] = [];
  const output = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      setImmediate(() => {
        taken.push(chunk);
        done();
      });
    },
  });
  return { output, said: () => taken.join('') };
}

test('[STDIO6] it is not over before the other side has taken everything', async () => {
  const { output, said } = slowOutput();
  const peer = serve(new PassThrough(), output);
  peer.transport.send('one');
  await null;
  peer.transport.send('two');
  peer.transport.close(1000, 'done');
  peer.transport.send('three');
  await peer.done;
  assert.equal(said(), 'one\ntwo\nthree\n');
});

test('[STDIO6] what was said before a line over the limit is written as well', async () => {
  const { output, said } = slowOutput();
  const input = new PassThrough();
  const peer = serve(input, output, { maxLineBytes: 8 });
  input.write('one\n123456789');
  await assert.rejects(peer.done, { code: 'too_large' });
  assert.equal(said(), 'one\n');
});

test('[STDIO6] a Peer can end the connection; what it said before is written, what comes after is not read', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const peer = serve(input, output);
  peer.transport.send('goodbye');
  peer.transport.close(1000, 'done');
  assert.equal(peer.closed(), 0, 'not while the Peer is still being called');
  await peer.done;
  assert.ok(input.destroyed);
  assert.equal(peer.closed(), 1);
  assert.equal(String(output.read()), 'goodbye\n');
});

test('[STDIO6] an input or output that breaks is an end like any other', async () => {
  for (const broken of ['input', 'output'] as const) {
    const streams = { input: new PassThrough(), output: new PassThrough() };
    const peer = serve(streams.input, streams.output);
    streams[broken].destroy(Object.assign(new Error('broken'), { code: 'EPIPE' }));
    await peer.done;
    assert.equal(peer.closed(), 1, broken);
    peer.transport.send('too late');
  }
});

const ECHO = `
  import { serveStdio } from 'src/cli/stdio.ts';
  const openPeer = (transport) => ({
    receive: (line) => transport.send(line),
    idle: async () => {},
    closed: () => process.stderr.write('closed;'),
  });
  const { stdin: input, stdout: output } = process;
  const maxLineBytes = 100_000;
  await serveStdio({ input, output, principal: 'ada', openPeer, maxLineBytes }).catch((error) => {
    process.stderr.write(error.message + '\\n');
    process.exitCode = 1;
  });`;

test('[STDIO7] a process with LANG=C speaks UTF-8, says nothing else, and ends with 0 when its input does', async () => {
  const line = '{"a":"ä€😀\u2028"}';
  const env = { PATH: process.env.PATH, LANG: 'C', LC_ALL: 'C' };
  const outcome = await runModule(ECHO, { env, input: `${line}\n`.repeat(1000) });
  assert.deepEqual(outcome, { code: 0, signal: null, stdout: `${line}\n`.repeat(1000), stderr: 'closed;' });
});

test('[STDIO7] a line over the limit ends the process with one line on stderr and a code that is not 0', async () => {
  const outcome = await runModule(ECHO, { input: `ok\n${'x'.repeat(200_000)}\n` });
  assert.equal(outcome.code, 1);
  assert.equal(outcome.stdout, 'ok\n');
  assert.equal(outcome.stderr, 'closed;a line on the input is longer than the limit\n');
});

test('[STDIO7] a closed stdout ends the process quietly although its input goes on', async (t) => {
  const code = ECHO.replaceAll("'src/", `'${ROOT}/src/`);
  const child = spawn(process.execPath, ['--input-type=module', '-e', code]);
  t.after(() => child.kill('SIGKILL'));
  child.stdin.on('error', () => undefined);
  const stderr = text(child.stderr);
  child.stdin.write('one\n');
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const exited = once(child, 'exit');
  child.stdin.write('two\n');
  assert.deepEqual(await exited, [0, null]);
  assert.equal(await stderr, 'closed;');
});
