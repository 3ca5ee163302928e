import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { packagedPixir } from './support/package.ts';
import { environmentFor, REPOSITORY, runPixir } from './support/processes.ts';
import { tempDir } from './support/temp-dir.ts';

const read = (path: string) => readFile(join(REPOSITORY, path), 'utf8');

/** What the registry's build accepts: https://github.com/agentclientprotocol/registry. It adds the icon itself. */
const entrySchema = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9-]*$/),
  name: z.string().min(1),
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  description: z.string().min(1),
  repository: z.url().optional(),
  website: z.url().optional(),
  authors: z.array(z.string()).optional(),
  license: z.string().optional(),
  distribution: z.strictObject({
    npx: z.strictObject({ package: z.string(), args: z.array(z.string()) }),
  }),
});

const entry = entrySchema.parse(JSON.parse(await read('registry/agent.json')));

test('[REG1] the entry fits the registry, and is of this version of this package', async () => {
  const { name, version, description, license, bin } = JSON.parse(await read('package.json'));
  assert.deepEqual([entry.id, entry.version, entry.description, entry.license], [name, version, description, license]);
  assert.equal(entry.distribution.npx.package, `${name}@${version}`);
  assert.deepEqual(Object.keys(bin), [name], 'what npx starts without being told');
});

test('[REG1] the icon is 16 by 16 in the colour of the text', async () => {
  const icon = await read('registry/icon.svg');
  const [root = ''] = /<svg[^>]*>/.exec(icon) ?? [];
  for (const part of ['width="16"', 'height="16"', 'viewBox="0 0 16 16"']) assert.ok(root.includes(part), part);
  const colours = [...icon.matchAll(/\b(?:fill|stroke|color)\s*[=:]\s*["']?([^"';\s>]+)/gi)].map(([, value]) => value);
  assert.deepEqual([...new Set(colours)].sort(), ['currentColor', 'none']);
  assert.doesNotMatch(icon, /style|<script|href|#[0-9a-f]{3}|rgb|url\(/i);
});

test('[REG1] [LOGIN5] its command starts an agent with a terminal login, and that login is what its arguments start', async () => {
  await using dir = await tempDir();
  const bin = await packagedPixir();
  const start = (args: string[], input = '') => runPixir(args, environmentFor(dir.path), input, dir.path, bin);
  const { args } = entry.distribution.npx;
  const params = { protocolVersion: 1, clientCapabilities: { auth: { terminal: true } } };
  const agent = await start(args, `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
  const { result } = JSON.parse(agent.stdout);
  assert.deepEqual([result.agentInfo.name, result.agentInfo.version], [entry.id, entry.version]);
  const [method] = result.authMethods;
  assert.equal(method.type, 'terminal');
  const login = await start([...args, ...method.args]);
  assert.deepEqual([login.code, login.stderr], [1, 'pixir: no key was given; nothing was changed\n']);
});
