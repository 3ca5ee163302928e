/** A server that browsers sign in to, with real token files and a clock that moves when it is told to. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { createAuthenticator } from '../../src/cli/authenticator.ts';
import { secret } from '../../src/cli/secret.ts';
import { createToken, type Grant } from '../../src/cli/tokens.ts';
import type { AppOptions } from '../../src/server/app.ts';
import { createOneTime } from '../../src/server/one-time.ts';
import { manualClock, startServer } from './support.ts';

export const OWN = 'the-own-token-of-the-server';
export const APP = 'https://app.example.org';

export async function stage(t: TestContext, overrides: Partial<AppOptions> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'pixir-test-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  const clock = manualClock();
  const onError = (error: unknown) => assert.fail(String(error));
  const { authenticate, browsers } = createAuthenticator({ dataDir, token: secret(OWN), clock, onError });
  const launchCodes = createOneTime<'launch'>(clock, 1);
  const options = { clock, authenticate, signIn: { browsers, launchCodes }, allowedOrigins: [APP], ...overrides };
  const server = await startServer(t, options);
  const origin = `http://127.0.0.1:${server.port}`;
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const login = (body: unknown) => post('/api/login', body, { origin });
  const named = (name: string, changed: Partial<Grant> = {}) =>
    createToken(dataDir, name, {
      owner: 'ada',
      scopes: ['observe'],
      workspaces: null,
      createdAt: new Date(0).toISOString(),
      expiresAt: null,
      via: null,
      ...changed,
    }).reveal();
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) clock.advance(1000);
  };
  return { dataDir, clock, server, origin, post, login, launchCodes, named, pass };
}

/** `name=value`, as a browser sends it back. */
export function cookieFrom(answer: Response): string {
  return answer.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
}

/** The status of an upgrade with these headers. */
export async function knock(url: string, headers: Record<string, string>, protocols = ['acp.v1']): Promise<number> {
  const socket = new WebSocket(url, protocols, { headers });
  const status = await new Promise<number>((resolve) => {
    socket.on('open', () => resolve(101));
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
  });
  socket.on('error', () => undefined);
  socket.terminate();
  return status;
}
