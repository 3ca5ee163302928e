/** `pixir doctor`: looks at everything a server needs and says what to do. It changes nothing and sends nothing. */
import { access, constants, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { CoreError, toCoreError } from '../core/errors.ts';
import { readHolder } from '../store/data-dir.ts';
import { openReadOnly } from '../store/sqlite-reader.ts';
import { createSandbox } from '../tools/sandbox.ts';
import { type Command, EXIT, readArgs } from './command.ts';
import { databaseOptions, sandboxOptions } from './compose.ts';
import { type Config, type Environment, loadConfig } from './config.ts';
import { packageVersion } from './package.ts';

interface Finding {
  check: string;
  ok: boolean;
  text: string;
}

/** Below this a database that grows will soon fail. */
const LOW_DISK_BYTES = 256 * 1024 * 1024;

export const doctor: Command = {
  async run(args, io) {
    const { values } = readArgs(args, {
      options: { json: { type: 'boolean', default: false }, 'data-dir': { type: 'string' } },
    });
    const config = loadConfig({ command: 'serve', flags: { dataDir: values['data-dir'] } }, io.env);
    const checks = [checkNode, checkDataDir, checkDatabase, checkProvider, checkPort];
    const findings = await Promise.all([...checks.map((check) => check(config)), checkSandbox(config, io.env)]);
    const ok = findings.every((finding) => finding.ok);
    const lines = findings.map((finding) => `${finding.ok ? 'ok  ' : 'FAIL'}  ${finding.check}: ${finding.text}`);
    const report = { ok, version: packageVersion(), findings };
    io.stdout.write(values.json ? `${JSON.stringify(report)}\n` : `${lines.join('\n')}\n`);
    return ok ? EXIT.done : EXIT.failed;
  },
};

async function checkNode(): Promise<Finding> {
  return { check: 'node', ok: true, text: process.version };
}

async function checkDataDir({ dataDir }: Config): Promise<Finding> {
  const finding = (ok: boolean, text: string) => ({ check: 'data directory', ok, text });
  try {
    await access(dataDir, constants.R_OK | constants.W_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return finding(true, `${dataDir} will be created`);
    return finding(false, `${dataDir} cannot be written: choose another with --data-dir`);
  }
  const { bavail, bsize } = await statfs(dataDir);
  const free = bavail * bsize;
  if (free < LOW_DISK_BYTES) return finding(false, `${dataDir} has ${Math.floor(free / 1e6)} MB left: make room`);
  const holder = readHolder(dataDir);
  return finding(true, holder ? `${dataDir}, last used by process ${holder.pid}` : dataDir);
}

async function checkDatabase(config: Config): Promise<Finding> {
  const finding = (ok: boolean, text: string) => ({ check: 'database', ok, text });
  const { file } = databaseOptions(config);
  try {
    await access(file);
  } catch {
    return finding(true, 'none yet; it will be created');
  }
  try {
    const reader = openReadOnly(databaseOptions(config));
    const problems = await reader.verifyDatabase().finally(() => reader.close());
    return finding(problems.length === 0, problems[0] ?? 'sound');
  } catch (error) {
    return finding(false, toCoreError(error).message);
  }
}

async function checkProvider({ provider, openaiApiKey, openaiBaseUrl }: Config): Promise<Finding> {
  const finding = (ok: boolean, text: string) => ({ check: 'provider', ok, text });
  if (provider === 'scripted') {
    return finding(
      true,
      'scripted demonstration; for a real model run pixir login, or set OPENAI_API_KEY or OPENAI_BASE_URL',
    );
  }
  if (!openaiApiKey && !openaiBaseUrl)
    return finding(false, `${provider} needs a key: run pixir login, or set OPENAI_API_KEY or OPENAI_BASE_URL`);
  return finding(true, `${provider}, ${openaiBaseUrl ?? 'the OpenAI API'}, ${openaiApiKey ? 'with' : 'without'} a key`);
}

async function checkSandbox(config: Config, env: Environment): Promise<Finding> {
  const finding = (ok: boolean, text: string) => ({ check: 'sandbox', ok, text });
  try {
    const status = await createSandbox(sandboxOptions(config, env)).status();
    if (status.kind === 'none') return finding(true, `commands are not confined: ${status.why}`);
    return finding(true, `${status.kind}, ${config.sandboxNetwork === 'on' ? 'with' : 'without'} network`);
  } catch (error) {
    return finding(false, toCoreError(error).message);
  }
}

async function checkPort({ host, port, dataDir }: Config): Promise<Finding> {
  const finding = (ok: boolean, text: string) => ({ check: 'port', ok, text });
  try {
    await tryListen(host, port);
    return finding(true, `${host}:${port} is free`);
  } catch (error) {
    const holder = readHolder(dataDir);
    if (holder?.url) return finding(true, `${host}:${port} is in use; a pixir server says it is at ${holder.url}`);
    return finding(false, `${host}:${port}: ${toCoreError(error).message}`);
  }
}

function tryListen(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new CoreError('listen_failed', `cannot be used (${error.code}): choose another with PIXIR_PORT`));
    });
    server.listen({ host, port }, () => server.close(() => resolve()));
  });
}
