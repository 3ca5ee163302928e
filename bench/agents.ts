/**
 * The agents under test as their users start them, over both transports: ours from a package laid out as it is
 * published, and the smallest one on the official SDK, bundled in the same way.
 */
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../scripts/build.ts';
import { type Client, type ClientOptions, openClient } from './client.ts';
import type { Model } from './model.ts';
import { PROBED } from './probe.ts';
import { environmentOf, firstLine, REPOSITORY, type Running, scratchDirectory, startNode } from './processes.ts';
import { type Endpoint, openLines, openWebSocket } from './wires.ts';

export type Name = 'ours' | 'sdk';
/** `checkout` is ours run from its source. */
export type Program = Name | 'checkout';
export type TransportName = 'WebSocket' | 'stdio';

export interface Agent extends Running {
  /** Connects; over stdio there is one connection only. */
  connect(options?: ClientOptions): Promise<Client>;
}

export interface Server extends Agent {
  endpoint: Endpoint;
}

interface ServeOptions {
  /** Of ours, to find there what was left; a fresh one when absent. */
  dataDir?: string;
  /** Makes it answer `probe`. */
  probed?: boolean;
}

export interface Agents {
  /** Where Sessions work; it holds `note.txt`. */
  workspace: string;
  start(name: Name, transport: TransportName, dataDir?: string): Promise<Agent>;
  serve(name: Name, options?: ServeOptions): Promise<Server>;
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
      // What thousands cost is measured on one client.
      PIXIR_MAX_CONNECTIONS: '10000',
      PIXIR_MAX_CONNECTIONS_PER_OWNER: '10000',
      PIXIR_MAX_ATTACHED_SESSIONS: '10000',
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

  async function serve(name: Name, options: ServeOptions = {}): Promise<Server> {
    const { dataDir = scratchDirectory('data'), probed = false } = options;
    const [program = ''] = commands[name];
    const env = { ...environment(name, dataDir), ...(probed ? PROBED : {}) };
    if (name === 'sdk') {
      const running = startNode([program, '--ws'], env);
      return overWebSocket(running, { url: await firstLine(running) });
    }
    const running = startNode([program, 'serve', '--port', '0', '--workspace', workspace], env);
    const url = (await firstLine(running)).replace(/^listening on http(.*)$/, 'ws$1/acp');
    return overWebSocket(running, { url, token: readFileSync(join(dataDir, 'token'), 'utf8').trim() });
  }

  async function start(name: Name, transport: TransportName, dataDir = scratchDirectory('data')): Promise<Agent> {
    return transport === 'stdio' ? spawn(name, dataDir) : serve(name, { dataDir });
  }

  return { workspace, start, serve, spawn };
}

function overStdio(running: Running): Agent {
  const { stdin, stdout } = running.child;
  return { ...running, connect: (options) => openClient((onMessage) => openLines(stdin, stdout, onMessage), options) };
}

function overWebSocket(running: Running, endpoint: Endpoint): Server {
  const connect = (options?: ClientOptions) => openClient((onMessage) => openWebSocket(endpoint, onMessage), options);
  return { ...running, endpoint, connect };
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
