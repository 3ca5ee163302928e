/** The handshake: which version is spoken, who speaks, and what it offers. */

import { codeOf } from '../client.ts';
import { expect, get, isObject, offers, type Requirement, restingOn, show, skip } from '../requirement.ts';
import { violation } from '../schema.ts';
import { expectError, newSession } from '../steps.ts';
import { initialize as handshake, type World } from '../world.ts';

export const initialize: Requirement[] = [
  {
    id: 'INIT-001',
    level: 'MUST',
    title: 'initialize is answered with what the schema demands',
    cases: ['C019'],
    async run(world) {
      const { result, error } = await handshake(await world.fresh());
      expect(isObject(result), `initialize was answered with ${show(error ?? result)}`);
      const wrong = violation('initialize', 'Response', result);
      expect(wrong === undefined, `initialize: ${wrong}`);
    },
  },
  ...restingOn('INIT-001', [
    {
      id: 'INIT-002',
      level: 'MUST',
      title: 'asked for version 1 it speaks version 1',
      cases: ['C019'],
      async run(world) {
        const version = get((await world.agent()).initialized, 'protocolVersion');
        expect(version === 1, `asked for version 1 it speaks ${show(version)}`);
      },
    },
    {
      id: 'INIT-003',
      level: 'MUST',
      title: 'asked for a version that nobody speaks it names its own latest one',
      cases: ['C020'],
      async run(world) {
        const version = await versionFor(world, 65_535);
        const isOwn = Number.isInteger(version) && Number(version) >= 1 && version !== 65_535;
        expect(isOwn, `asked for version 65535 it speaks ${show(version)}`);
      },
    },
    {
      id: 'INIT-004',
      level: 'SHOULD',
      title: 'it names itself',
      cases: ['C026'],
      async run(world) {
        const { initialized } = await world.agent();
        const [name, version] = ['name', 'version'].map((key) => get(initialized, `agentInfo.${key}`));
        expect(typeof name === 'string' && typeof version === 'string', 'agentInfo has no name or no version');
      },
    },
    {
      id: 'C021',
      level: 'MAY',
      title: 'asked for version 0 it names its own, without an error',
      async run(world) {
        const version = await versionFor(world, 0);
        expect(Number(version) >= 1, `asked for version 0 it speaks ${show(version)}`);
      },
    },
    {
      id: 'C022',
      level: 'SHOULD',
      title: 'a version that is missing, a text, a fraction or negative is -32602',
      async run(world) {
        const client = await world.fresh();
        for (const params of [{}, { protocolVersion: '1' }, { protocolVersion: 1.5 }, { protocolVersion: -1 }]) {
          expectError(await client.request('initialize', params), -32602, `initialize with ${JSON.stringify(params)}`);
        }
      },
    },
    { id: 'C023', level: 'SHOULD', title: 'before initialize every request is refused', run: refusesBefore },
    {
      id: 'C024',
      level: 'MAY',
      title: 'a second initialize is answered and changes nothing',
      async run(world) {
        const client = await world.freshWith({});
        const { result, error } = await client.request('initialize', { protocolVersion: 1 });
        expect(isObject(result) || get(error, 'code') === -32600, `a second initialize: ${show(error ?? result)}`);
        await newSession(world, client);
      },
    },
    {
      id: 'C026',
      level: 'SHOULD',
      title: 'unknown members and _meta in initialize do no harm',
      async run(world) {
        const client = await world.fresh();
        const params = { protocolVersion: 1, futureMember: { a: 1 }, _meta: { 'example.com/x': 1 } };
        const { result, error } = await client.request('initialize', params);
        expect(isObject(result), `initialize with more members: ${show(error)}`);
      },
    },
    { id: 'C028', level: 'MUST', title: 'a method that is not offered is -32601', run: refusesUnoffered },
    {
      id: 'C110',
      level: 'MAY',
      title: 'it can be listed in the registry: some way to log in is offered',
      async run(world) {
        const client = await world.freshWith({ auth: { terminal: true } });
        const methods = get(client.initialized, 'authMethods');
        expect(Array.isArray(methods) && methods.length > 0, 'it offers no way to log in, which the registry wants');
      },
    },
  ]),
];

async function versionFor(world: World, version: number): Promise<unknown> {
  const { result, error } = await handshake(await world.fresh(), {}, version);
  expect(isObject(result), `initialize with version ${version}: ${show(error ?? result)}`);
  return result.protocolVersion;
}

async function refusesBefore(world: World): Promise<void> {
  const client = await world.fresh();
  const answer = await client
    .request('session/new', { cwd: world.cwd, mcpServers: [] })
    .catch((error) => client.ending ?? Promise.reject(error));
  // A server may also close a connection that does not begin with initialize.
  if (!('id' in answer)) return;
  expect(answer.error, 'session/new works before initialize');
  expect(codeOf(answer) === -32600, `session/new before initialize: ${show(answer.error)} instead of -32600`);
}

async function refusesUnoffered(world: World): Promise<void> {
  const client = await world.agent();
  const { cwd } = world;
  const methods = [
    ['load', 'session/load', { sessionId: 'none', cwd, mcpServers: [] }],
    ['resume', 'session/resume', { sessionId: 'none', cwd }],
    ['list', 'session/list', {}],
    ['close', 'session/close', { sessionId: 'none' }],
    ['delete', 'session/delete', { sessionId: 'none' }],
    ['logout', 'logout', {}],
  ] as const;
  const harmless = methods.filter(([feature]) => feature !== 'logout' || world.mayLogout);
  const unoffered = harmless.filter(([feature]) => !offers(client, feature));
  if (unoffered.length === 0) skip('it offers everything');
  for (const [, method, params] of unoffered) {
    expectError(await client.request(method, params), -32601, `${method}, which it does not offer`);
  }
}
