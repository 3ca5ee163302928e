/** The sandbox, from the inside: commands that try to get out. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { tempDir } from '../support/temp-dir.ts';
import { ground, options, processesWith, startHost } from './sandbox-support.ts';
import { errorOf } from './support.ts';

describe('a confined command', { concurrency: true, ...options }, () => {
  test('[SBX1] reads the system and its workspace; of home, data and other processes nothing', async () => {
    await using g = await ground();
    writeFileSync(join(g.workspace, 'a.txt'), 'mine');
    assert.equal(await g.says('cat a.txt'), 'mine');
    const tries = [
      `${g.home}/.ssh/id`,
      '~/.ssh/id',
      `${g.data}/token`,
      `/proc/${process.pid}/environ`,
      '/proc/*/environ',
    ];
    for (const path of tries)
      assert.doesNotMatch((await g.bash(`cat ${path} | tr '\\0' '\\n'`)).output, /canary/, path);
    assert.equal(
      await g.says(`ls -A ~ ${g.dir} | sort -u | xargs; ls -A ${g.data}`),
      `${g.home}: ${g.dir}: data home work`,
    );
    const unseen = [
      '/run',
      '/root/.ssh',
      '/var/run/docker.sock',
      '/sys',
      '/boot',
      '/mnt',
      '/srv',
      `/proc/${process.pid}`,
    ];
    for (const path of unseen) assert.equal((await g.bash(`ls -d ${path}`)).ok, false, path);
    assert.equal(await g.says('cat /etc/shadow 2>/dev/null | wc -c'), '0');
    assert.doesNotMatch(await g.says('env'), /canary|OPENAI/);
  });

  test('[SBX1] the data directory is hidden also inside the workspace, and shows a workspace inside it', async () => {
    await using g = await ground();
    const inner = join(g.workspace, '.data');
    mkdirSync(join(inner, 'playground'), { recursive: true });
    writeFileSync(join(inner, 'token'), 'canary');
    writeFileSync(join(g.workspace, 'token'), 'canary');
    const bash = g.bashIn({ hidden: [inner, join(g.workspace, 'token')] });
    assert.equal((await bash('ls -A .data; cat token 2>/dev/null; true')).output, '');
    const { output } = await bash('ls -A ..; pwd', { workspace: join(inner, 'playground') });
    assert.equal(output, `playground\n${inner}/playground\n`);
  });

  test('[SBX2] writes its workspace, and a /tmp and a home of its own', async () => {
    await using g = await ground();
    const name = basename(g.dir);
    await g.says(`echo x > new && mkdir d && mv new d/ && echo x | tee /tmp/${name}.t /var/tmp/${name}.v ~/h`);
    assert.equal(readFileSync(join(g.workspace, 'd/new'), 'utf8'), 'x\n');
    for (const path of [`/tmp/${name}.t`, `/var/tmp/${name}.v`, join(g.home, 'h')]) assert.ok(!existsSync(path), path);
    // Only what leads to the workspace, or to a program on PATH.
    await using other = await tempDir();
    assert.ok(!(await g.says(`ls -A ${dirname(other.path)} || true`)).includes(basename(other.path)));
    for (const path of [
      '/x',
      '/etc/x',
      '/usr/x',
      '/home/x',
      '/var/x',
      '/proc/sys/kernel/hostname',
      '/proc/sysrq-trigger',
    ]) {
      assert.equal((await g.bash(`: >> ${path}`)).ok, false, path);
    }
    // Of what lies on a disk, only the workspace; a tmpfs is the command's own.
    const writable = await g.says("awk '$5 !~ /^.dev/ && $6 ~ /^rw/ && !/ - tmpfs /{print $5}' /proc/self/mountinfo");
    assert.equal(writable, g.workspace);
  });

  test('[SBX4] reaches no socket of the host', async () => {
    await using g = await ground();
    const seen: string[] = [];
    const udp = createSocket('udp4', (message) => void seen.push(message.toString())).bind(0, '127.0.0.1');
    await once(udp, 'listening');
    const paths = { tcp: 0, file: join(g.home, 's'), abstract: `\0${g.dir}` };
    const servers = Object.values(paths).map((path) =>
      createServer((socket) => {
        seen.push('connection');
        socket.end();
      }).listen(path),
    );
    await Promise.all(servers.map((server) => once(server, 'listening')));
    const { port } = (servers[0] as Server).address() as AddressInfo;
    const targets = [{ port, host: '127.0.0.1' }, { path: paths.file }, { path: paths.abstract }];
    const script = `
      const net = require('node:net');
      for (const target of ${JSON.stringify(targets)}) net.connect(target).on('error', () => console.log('refused')).on('connect', () => console.log('OPEN'));
      const udp = require('node:dgram').createSocket('udp4');
      udp.send('theirs', ${udp.address().port}, '127.0.0.1', () => udp.close());`;
    writeFileSync(join(g.workspace, 'connect.cjs'), script);
    assert.equal(await g.says('node connect.cjs'), 'refused\nrefused\nrefused');
    assert.equal((await g.bash(`echo > /dev/tcp/127.0.0.1/${port}`)).ok, false);
    // What comes now comes after whatever the command has sent.
    udp.send('ours', udp.address().port, '127.0.0.1');
    await once(udp, 'message');
    assert.deepEqual(seen, ['ours']);
    const open = await g.bashIn({ network: true })(`echo > /dev/tcp/127.0.0.1/${port}`);
    assert.deepEqual(open, { ok: true, output: '', exitCode: 0 }, 'allowed, the network is there');
    udp.close();
    for (const server of servers) server.close();
  });

  test('[SBX4] a command that fails is told that there is no network', async () => {
    await using g = await ground();
    assert.match((await g.bash('exit 3')).output, /^\[exit code 3\]\n\[sandboxed: no network; .+\]$/);
    assert.doesNotMatch((await g.bashIn({ network: true })('exit 3')).output, /no network/);
  });

  test('[SBX5] has no capability, and no way to get one', async () => {
    await using g = await ground();
    const status = await g.says('cat /proc/self/status');
    assert.match(status, /^CapEff:\s+0+$/m);
    assert.match(status, /^CapBnd:\s+0+$/m);
    assert.match(status, /^NoNewPrivs:\s+1$/m);
  });

  test('[SBX5] has no descriptor, not even one that the server was started with', async () => {
    await using g = await ground();
    const host = startHost(g, 'ls /proc/self/fd /proc/1/fd | xargs');
    // The directory that ls reads is 3, a pipe of bubblewrap 4.
    assert.match(await text(host.stdout), /^\/proc\/1\/fd: 0 1 2 4 \/proc\/self\/fd: 0 1 2 3$/m);
  });

  test('[SBX7] does not survive the process that started it', async () => {
    await using g = await ground();
    const sleep = `sleep ${500_000 + process.pid}`;
    const host = startHost(g, `setsid ${sleep} & echo ready; ${sleep}`);
    await once(host.stdout, 'data');
    host.kill('SIGKILL');
    await text(host.stdout);
    const left = () => processesWith(sleep.slice(6));
    for (const deadline = performance.now() + 5_000; left().length > 0 && performance.now() < deadline; )
      await pause(10);
    const survivors = left();
    for (const pid of survivors) process.kill(Number(pid), 'SIGKILL');
    assert.deepEqual(survivors, []);
  });

  test('[SBX6] 50 hostile commands end and leave nothing', async () => {
    await using g = await ground();
    const lasting = (n: number) => `sleep ${300_000 + process.pid}.${n}`;
    const HOSTILE: ((sleep: string) => string)[] = [
      (sleep) => `setsid ${sleep} &`,
      (sleep) => `(setsid sh -c 'trap "" TERM HUP INT; while :; do ${sleep}; done' </dev/null >/dev/null 2>&1 &)`,
      (sleep) => `nohup ${sleep} &`,
      (sleep) => `${sleep} & disown -a`,
      (sleep) => `( ( ${sleep} & ) & )`,
      (sleep) => `env -i setsid ${sleep} &`,
      (sleep) => `sh -c 'kill -STOP $$; ${sleep}' &`,
      (sleep) => `set -m; ${sleep} & ${sleep} &`,
      // Only inside: it kills whatever it can see.
      (sleep) => `trap "" TERM; ${sleep} & grep -q bwrap /proc/1/comm && kill -9 -1`,
      (sleep) => `unshare -Urpf ${sleep} & ${sleep} &`,
    ];
    const commands = Array.from({ length: 50 }, (_, n) => HOSTILE[n % HOSTILE.length]?.(lasting(n)) ?? '');
    const run = async () => {
      for (let command = commands.pop(); command; command = commands.pop()) await g.bash(command);
    };
    await Promise.all([run(), run(), run(), run()]);
    assert.deepEqual(processesWith(String(300_000 + process.pid)), []);
  });

  test('[SBX6] a fork bomb ends with its call, and others work meanwhile', async () => {
    await using g = await ground();
    const sleep = `sleep ${400_000 + process.pid}`;
    const bomb = `bomb() { if [ $1 = 0 ]; then ${sleep}; else bomb $(($1 - 1)) & bomb $(($1 - 1)) & wait; fi; }; echo ready; bomb 7`;
    const up = Promise.withResolvers<void>();
    const bombing = errorOf(g.bash(bomb, { timeout: 800, progress: () => up.resolve() }));
    await up.promise;
    assert.equal(await g.says('echo fine'), 'fine');
    assert.equal((await bombing).code, 'timeout');
    assert.deepEqual(processesWith(sleep.slice(6)), []);
  });

  test('[SBX8] processes, memory, file size and core dumps are limited', async () => {
    await using g = await ground();
    const limits = { u: '512', d: String(8 * 2 ** 20), f: String(4 * 2 ** 20), c: '0' };
    for (const [limit, value] of Object.entries(limits)) assert.equal(await g.says(`ulimit -H${limit}`), value, limit);
    assert.equal((await g.bash('truncate -s 4G big && truncate -s 5G big')).ok, false);
  });
});
