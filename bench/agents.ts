/**
 * The agents under test as their users start them, over both transports: ours from a package laid out as it is
 * published, and the smallest one on the official SDK, bundled in the same way.
 */
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../scripts/build.ts';
import { type Client, openClient } from './client.ts';
import type { Model } from './model.ts';
import { environmentOf, firstLine, REPOSITORY, type Running, scratchDirectory, startNode } from './processes.ts';
import { openLines, openWebSocket } from './wires.ts';

export type Name = 'ours' | 'sdk';
/** `checkout` is ours run from its source. */
export type Program = Name | 'checkout';
export type TransportName = 'WebSocket' | 'stdio';

export interface Agent extends Running {
  /** Connects; over stdio there is one connection only. */
  connect(): Promise<Client>;
}

export interface Agents {
  /** Where Sessions work; it holds `note.txt`. */
  workspace: string;
  /** @param dataDir of ours, to find there what was left; a fresh one when absent. */
  start(name: Name, transport: TransportName, dataDir?: string): Promise<Agent>;
  /** Spawns one over stdio and does not wait for anything. */
  spawn(program: Program, dataDir: string): Agent;
}

export async function prepareAgents(model: Model): Promise<Agents> {
  const packaged = await layOutPackage();
  const sdk = await bundleSdkAgent();
  const workspace = scratchDirectory('workspace');
  cpSync(join(REPOSITORY, 'LICENSE'), join(workspace, 'note.txt'));
  // One home for all of them, so that the compile caches are warm after the first start.
  const caches = scratchDirectory('home');

  const environment = (program: Program, dataDir: string) =>
    environmentOf(caches, {
      OPENAI_API_KEY: 'bench',
      OPENAI_BASE_URL: model.baseUrl,
      PIXIR_DATA_DIR: dataDir,
      PIXIR_PROVIDER: 'openai',
      PIXIR_MODEL: 'bench',
      PIXIR_LOG_LEVEL: 'warn',
      // Ours looks after this itself.
      ...(program === 'sdk' ? { NODE_COMPILE_CACHE: join(caches, 'sdk') } : {}),
    });

  const commands: Record<Program, string[]> = {
    ours: [join(packaged, 'bin', 'pixir'), 'acp'],
    checkout: [join(REPOSITORY, 'bin', 'pixir'), 'acp'],
    sdk: [sdk],
  };

  const spawn = (program: Program, dataDir: string) =>
    overStdio(startNode(commands[program], environment(program, dataDir)));

  async function start(name: Name, transport: TransportName, dataDir = scratchDirectory('data')): Promise<Agent> {
    if (transport === 'stdio') return spawn(name, dataDir);
    const [program = ''] = commands[name];
    const env = environment(name, dataDir);
    if (name === 'sdk') return overWebSocket(startNode([program, '--ws'], env), (url) => url);
    const running = startNode([program, 'serve', '--port', '0', '--workspace', workspace], env);
    return overWebSocket(
      running,
      (line) => line.replace(/^listening on http(.*)$/, 'ws$1/acp'),
      () => readFileSync(join(dataDir, 'token'), 'utf8').trim(),
    );
  }

  return { workspace, start, spawn };
}

function overStdio(running: Running): Agent {
  const { stdin, stdout } = running.child;
  return { ...running, connect: () => openClient((onMessage) => openLines(stdin, stdout, onMessage)) };
}

async function overWebSocket(running: Running, urlOf: (line: string) => string, tokenOf?: () => string) {
  const url = urlOf(await firstLine(running));
  return {
    ...running,
    connect: () => openClient((onMessage) => openWebSocket(url, tokenOf?.(), onMessage)),
  };
}

/** What npm would install: the files of the package, and its dependencies beside it. */
async function layOutPackage(): Promise<string> {
  const root = join(scratchDirectory('package'), 'pixir');
  mkdirSync(root);
  for (const entry of ['bin', 'migrations', 'package.json']) {
    cpSync(join(REPOSITORY, entry), join(root, entry), { recursive: true });
  }
  symlinkSync(join(REPOSITORY, 'node_modules'), join(root, 'node_modules'));
  await bundle(join(REPOSITORY, 'src', 'main.ts'), join(root, 'dist'));
  return root;
}

async function bundleSdkAgent(): Promise<string> {
  const root = scratchDirectory('sdk');
  symlinkSync(join(REPOSITORY, 'node_modules'), join(root, 'node_modules'));
  const output = join(root, 'dist');
  await bundle(fileURLToPath(import.meta.resolve('./sdk-agent.ts')), output);
  cpSync(join(REPOSITORY, 'package.json'), join(root, 'package.json'));
  return join(output, 'main.js');
}
