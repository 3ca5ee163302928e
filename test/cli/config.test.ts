import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { type Environment, loadConfig } from '../../src/cli/config.ts';
import { LIMITS } from '../../src/cli/limits.ts';
import { type Given, load, messageOf } from './config-support.ts';

test('[CONF1] flags win over the environment, which wins over config.json, which wins over the default', (t) => {
  const file = { port: 3, host: 'file', model: 'file', logLevel: 'error' };
  const env = { PIXIR_PORT: '2', PIXIR_HOST: 'env', PIXIR_MODEL: 'env' };
  const config = load(t, { file, env, flags: { port: '1' } }).config();
  assert.deepEqual(
    [config.port, config.host, config.model, config.logLevel, config.recovery],
    [1, 'env', 'env', 'error', 'resume'],
  );
});

test('[CONF1] an empty variable counts as not set', (t) => {
  const config = load(t, { file: { port: 3 }, env: { PIXIR_PORT: '', PIXIR_TOKEN: '', OPENAI_API_KEY: '' } }).config();
  assert.equal(config.port, 3);
  assert.equal(config.token, undefined);
  assert.equal(config.provider, 'scripted');
});

test('[CONF2] with nothing set, every setting has its documented default', (t) => {
  const { config, dataDir } = load(t);
  assert.deepEqual(config(), {
    dataDir,
    host: '127.0.0.1',
    port: 7494,
    workspaces: [join(dataDir, 'playground')],
    provider: 'scripted',
    reasoningEffort: 'default',
    permissionMode: 'auto',
    permissionTimeoutMs: 1_800_000,
    recovery: 'resume',
    autoCompact: 'on',
    sandbox: 'auto',
    sandboxNetwork: 'off',
    mcpCommands: [],
    mcpOrigins: [],
    mcpTrusted: [],
    logLevel: 'info',
    allowedOrigins: [],
    limits: LIMITS,
  });
});

test('[CONF2] every setting can be set in the environment and in config.json', (t) => {
  const env = {
    PIXIR_HOST: '::1',
    PIXIR_PORT: '0',
    PIXIR_TOKEN: 'env-token',
    PIXIR_TOKEN_FILE: '/run/token',
    PIXIR_WORKSPACES: '/a:/b c:',
    PIXIR_PROVIDER: 'openai-chat',
    OPENAI_API_KEY: 'env-key',
    OPENAI_BASE_URL: 'http://localhost:1234/v1',
    PIXIR_MODEL: 'm1',
    PIXIR_MODELS: 'm1, m2,',
    PIXIR_REASONING_EFFORT: 'xhigh',
    PIXIR_PERMISSION_MODE: 'ask',
    PIXIR_PERMISSION_TIMEOUT_MS: '1',
    PIXIR_TURN_TIMEOUT_MS: '2',
    PIXIR_MAX_ITERATIONS: '3',
    PIXIR_RECOVERY: 'interrupt',
    PIXIR_AUTO_COMPACT: 'off',
    PIXIR_SANDBOX: 'required',
    PIXIR_SANDBOX_NETWORK: 'on',
    PIXIR_MCP_COMMANDS: '/opt/a,/opt/b c',
    PIXIR_MCP_ORIGINS: 'https://mcp.example',
    PIXIR_MCP_TRUSTED: '/opt/a,https://mcp.example',
    PIXIR_LOG_LEVEL: 'silent',
    PIXIR_TLS_CERT: '/run/cert.pem',
    PIXIR_TLS_KEY: '/run/key.pem',
    PIXIR_BEHIND_PROXY: '10.0.0.1, fd00::/8',
    PIXIR_PUBLIC_URL: 'https://example.org/agent',
    PIXIR_ALLOWED_ORIGINS: 'https://a.example,http://b.example:8080',
  };
  const file = {
    host: '::1',
    port: 0,
    token: 'env-token',
    tokenFile: '/run/token',
    workspaces: ['/a', '/b c'],
    provider: 'openai-chat',
    openaiApiKey: 'env-key',
    openaiBaseUrl: 'http://localhost:1234/v1',
    model: 'm1',
    models: ['m1', 'm2'],
    reasoningEffort: 'xhigh',
    permissionMode: 'ask',
    permissionTimeoutMs: 1,
    turnTimeoutMs: 2,
    maxIterations: 3,
    recovery: 'interrupt',
    autoCompact: 'off',
    sandbox: 'required',
    sandboxNetwork: 'on',
    mcpCommands: ['/opt/a', '/opt/b c'],
    mcpOrigins: ['https://mcp.example'],
    mcpTrusted: ['/opt/a', 'https://mcp.example'],
    logLevel: 'silent',
    tlsCert: '/run/cert.pem',
    tlsKey: '/run/key.pem',
    behindProxy: ['10.0.0.1', 'fd00::/8'],
    publicUrl: 'https://example.org/agent',
    allowedOrigins: ['https://a.example', 'http://b.example:8080'],
  };
  for (const given of [load(t, { env }), load(t, { file })]) {
    const { dataDir, token, openaiApiKey, limits: _limits, ...rest } = given.config();
    const { token: _token, openaiApiKey: _key, ...expected } = file;
    assert.deepEqual(rest, expected);
    assert.equal(token?.reveal(), 'env-token');
    assert.equal(openaiApiKey?.reveal(), 'env-key');
    assert.equal(dataDir, given.dataDir);
  }
});

test('[CONF3] a bad value is refused with its key and where it came from, and is not repeated', (t) => {
  const bad: [keyof typeof NAMES, unknown[]][] = [
    ['port', ['canary', '-1', '65536', '1.5', '0x10', '1e3', ' 1', '99999999999999999999']],
    ['host', [['canary']]],
    ['token', ['with canary space', 'cänary']],
    ['provider', ['canary', 'OpenAI']],
    ['openaiBaseUrl', ['canary', 'ftp://canary', '/canary']],
    ['models', [',', ' , ']],
    ['workspaces', [':']],
    ['reasoningEffort', ['canary']],
    ['permissionMode', ['canary', 'AUTO']],
    ['permissionTimeoutMs', ['0', 'canary', '-5', '1s']],
    ['turnTimeoutMs', ['0', 'none']],
    ['maxIterations', ['0', '1.5']],
    ['recovery', ['canary']],
    ['autoCompact', ['canary', 'true']],
    ['sandbox', ['canary']],
    ['sandboxNetwork', ['canary', 'true']],
    ['mcpCommands', ['canary', './canary', ',']],
    ['mcpOrigins', ['canary', 'https://canary/', 'https://canary/mcp', '*']],
    ['mcpTrusted', ['canary', 'https://canary/mcp', '*']],
    ['logLevel', ['canary', 'verbose']],
    ['behindProxy', ['canary', '10.0.0', '10.0.0.1/33', '::1/129', '10.0.0.1/8/8', '10.0.0.1/', ',']],
    [
      'publicUrl',
      ['canary', 'https://u:canary@example.org', 'https://example.org/?canary', 'https://example.org/#canary'],
    ],
    ['allowedOrigins', ['canary', 'https://example.org/', 'null', '*', 'https://*.example.org']],
  ];
  for (const [key, values] of bad) {
    for (const value of values) {
      const inFile = load(t, { file: { [key]: value } });
      const message = messageOf(inFile.config);
      assert.ok(message.startsWith(`${key} (${inFile.path}): must `), message);
      assert.ok(!message.includes('canary'), message);
      if (typeof value !== 'string') continue;
      const name = NAMES[key];
      const fromEnvironment = messageOf(load(t, { env: { [name]: value } }).config);
      assert.ok(fromEnvironment.startsWith(`${name} (environment): must `), fromEnvironment);
      assert.ok(!fromEnvironment.includes('canary'), fromEnvironment);
    }
  }
});

const NAMES = {
  port: 'PIXIR_PORT',
  host: 'PIXIR_HOST',
  token: 'PIXIR_TOKEN',
  provider: 'PIXIR_PROVIDER',
  openaiBaseUrl: 'OPENAI_BASE_URL',
  models: 'PIXIR_MODELS',
  workspaces: 'PIXIR_WORKSPACES',
  reasoningEffort: 'PIXIR_REASONING_EFFORT',
  permissionMode: 'PIXIR_PERMISSION_MODE',
  permissionTimeoutMs: 'PIXIR_PERMISSION_TIMEOUT_MS',
  turnTimeoutMs: 'PIXIR_TURN_TIMEOUT_MS',
  maxIterations: 'PIXIR_MAX_ITERATIONS',
  recovery: 'PIXIR_RECOVERY',
  autoCompact: 'PIXIR_AUTO_COMPACT',
  sandbox: 'PIXIR_SANDBOX',
  sandboxNetwork: 'PIXIR_SANDBOX_NETWORK',
  logLevel: 'PIXIR_LOG_LEVEL',
  behindProxy: 'PIXIR_BEHIND_PROXY',
  publicUrl: 'PIXIR_PUBLIC_URL',
  allowedOrigins: 'PIXIR_ALLOWED_ORIGINS',
  mcpCommands: 'PIXIR_MCP_COMMANDS',
  mcpOrigins: 'PIXIR_MCP_ORIGINS',
  mcpTrusted: 'PIXIR_MCP_TRUSTED',
} as const;

test('[CONF3] bad flags are named as they were typed, and all errors come at once', (t) => {
  const flags = { port: 'x', host: '', permissionMode: 'y', workspaces: [''] };
  const message = messageOf(load(t, { flags, env: { PIXIR_SANDBOX: 'z' } }).config);
  for (const name of [
    '--port (flag)',
    '--host (flag)',
    '--permission-mode (flag)',
    '--workspace (flag)',
    'PIXIR_SANDBOX',
  ]) {
    assert.ok(message.includes(name), message);
  }
});

test('[CONF3] wrong types in config.json are refused', (t) => {
  for (const value of [null, true, {}, [], 1.5, [1]]) {
    for (const key of ['port', 'host', 'models', 'token', 'permissionMode']) {
      const { config, path } = load(t, { file: { [key]: value } });
      assert.ok(messageOf(config).startsWith(`${key} (${path}): must `), `${key}: ${JSON.stringify(value)}`);
    }
  }
});

test('[CONF4] an unknown key in config.json is an error that names it', (t) => {
  for (const key of ['colour', 'Port', 'PIXIR_PORT', '__proto__', 'constructor', 'toString', 'dataDir']) {
    const { config, path } = load(t, { file: `{"port": 1, ${JSON.stringify(key)}: "x"}` });
    assert.equal(messageOf(config), `${key} (${path}): unknown key`);
  }
});

test('[CONF4] a config.json that is not one JSON object is an error that names the file', (t) => {
  for (const content of ['', '{', '[]', 'null', '42', '"canary"', '{"token": "canary" oops}']) {
    const { config, path } = load(t, { file: content });
    assert.equal(messageOf(config), `${path}: must be one JSON object`);
  }
  const { config, path } = load(t);
  mkdirSync(path);
  assert.equal(messageOf(config), `${path}: cannot be read (EISDIR)`);
});

test('[CONF5] secrets do not show when the configuration is printed', (t) => {
  const config = load(t, { env: { PIXIR_TOKEN: 'canary-token', OPENAI_API_KEY: 'canary-key' } }).config();
  const shown = [
    JSON.stringify(config),
    inspect(config, { depth: null, showHidden: true }),
    `${config.token} ${config.openaiApiKey}`,
    inspect(structuredClone({ ...config, token: String(config.token), openaiApiKey: undefined })),
    JSON.stringify(Object.entries(config)),
  ];
  for (const text of shown) assert.ok(!text.includes('canary'), text);
  assert.ok(shown.slice(0, 2).every((text) => text.includes('[secret]')));
});

test('[CONF5] the configuration cannot be changed', (t) => {
  assert.ok(Object.isFrozen(load(t).config()));
});

test('[CONF6] the provider is openai when a key or base URL is set, else scripted; a named one wins', (t) => {
  const provider = (env: Environment) => load(t, { env }).config().provider;
  assert.equal(provider({}), 'scripted');
  assert.equal(provider({ OPENAI_API_KEY: 'k' }), 'openai');
  assert.equal(provider({ OPENAI_BASE_URL: 'http://localhost/v1' }), 'openai');
  assert.equal(provider({ OPENAI_API_KEY: 'k', PIXIR_PROVIDER: 'scripted' }), 'scripted');
  assert.equal(load(t, { file: { openaiApiKey: 'k' } }).config().provider, 'openai');
});

test('[CONF7] workspaces: what was set, absolute; else by command and provider', (t) => {
  const workspaces = (given: Given) => load(t, given).config().workspaces;
  assert.deepEqual(workspaces({ env: { OPENAI_API_KEY: 'k' } }), ['/somewhere']);
  assert.equal(workspaces({ command: 'acp' }), null);
  assert.equal(workspaces({ command: 'run', env: { OPENAI_API_KEY: 'k' } }), null);
  assert.deepEqual(workspaces({ command: 'acp', env: { PIXIR_WORKSPACES: 'a:/b' } }), ['/somewhere/a', '/b']);
  assert.deepEqual(workspaces({ flags: { workspaces: ['with:colon', '..'] } }), ['/somewhere/with:colon', '/']);
  const inFile = load(t, { file: { workspaces: ['here'], tokenFile: 'secret' } });
  assert.deepEqual(inFile.config().workspaces, [join(inFile.dataDir, 'here')]);
  assert.equal(inFile.config().tokenFile, join(inFile.dataDir, 'secret'));
});

test('[CONF8] the data directory: flag, variable, XDG, home', () => {
  const dataDir = (env: Environment, flag?: string) =>
    loadConfig({ command: 'serve', cwd: '/cwd', flags: { dataDir: flag } }, { HOME: '/nowhere/ada', ...env }).dataDir;
  assert.equal(dataDir({}), '/nowhere/ada/.local/share/pixir');
  assert.equal(dataDir({ XDG_DATA_HOME: '/nowhere/xdg' }), '/nowhere/xdg/pixir');
  assert.equal(dataDir({ XDG_DATA_HOME: 'relative' }), '/nowhere/ada/.local/share/pixir');
  assert.equal(dataDir({ XDG_DATA_HOME: '/nowhere/xdg', PIXIR_DATA_DIR: '/nowhere/env' }), '/nowhere/env');
  assert.equal(dataDir({ PIXIR_DATA_DIR: 'sub' }), '/cwd/sub');
  assert.equal(dataDir({ PIXIR_DATA_DIR: '/nowhere/env' }, '../flag'), '/flag');
  const empty = () => dataDir({}, '');
  assert.equal(messageOf(empty), '--data-dir (flag): must not be empty');
});
