/** Logging in and out. Nothing here logs anybody out unless the person who runs it says so. */
import { type Client, codeOf } from '../client.ts';
import { expect, get, isObject, list, type Requirement, restingOn, show, skip } from '../requirement.ts';
import { expectError } from '../steps.ts';

const AUTH_REQUIRED = -32000;

export const auth: Requirement[] = restingOn('INIT-001', [
  {
    id: 'AUTH-001',
    level: 'SHOULD',
    title: 'the ids of authentication methods are unique',
    cases: ['C027'],
    async run(world) {
      const ids = methodsOf(await world.agent()).map(({ id }) => id);
      if (ids.length === 0) skip('it offers no authentication');
      expect(new Set(ids).size === ids.length, `ids of authentication methods: ${ids.join(', ')}`);
    },
  },
  {
    id: 'AUTH-002',
    level: 'MUST',
    title: 'no terminal login is offered to a client that cannot show one',
    observe(clients) {
      for (const client of clients.filter(({ capabilities }) => get(capabilities, 'auth.terminal') !== true)) {
        const terminal = methodsOf(client).find(({ type }) => type === 'terminal');
        expect(!terminal, `offered: ${show(terminal)}`);
      }
    },
  },
  {
    id: 'AUTH-003',
    level: 'MUST',
    title: 'after authenticate nothing asks for authentication',
    cases: ['C039'],
    async run(world) {
      if (world.auth === undefined) skip('no authentication method was named with --auth');
      const client = await world.agent();
      const answer = await client.request('session/new', { cwd: world.cwd, mcpServers: [] });
      expect(codeOf(answer) !== AUTH_REQUIRED, 'session/new asks for authentication after authenticate');
    },
  },
  {
    id: 'AUTH-004',
    level: 'MUST',
    title: 'logout is answered',
    cases: ['C040'],
    needs: 'logout',
    async run(world) {
      if (!world.mayLogout) skip('logging out was not allowed with --allow-logout');
      const client = await world.freshWith({});
      for (let n = 0; n < 2; n++) {
        const { result, error } = await client.request('logout');
        expect(isObject(result), `logout was answered with ${show(error ?? result)}`);
      }
    },
  },
  {
    id: 'AUTH-005',
    level: 'SHOULD',
    title: 'who offers no authentication asks for none',
    cases: ['C027', 'C039'],
    observe(clients) {
      const unoffered = clients.filter((client) => methodsOf(client).length === 0);
      if (unoffered.length === 0) skip('it offers authentication');
      for (const client of unoffered) {
        const asking = client.frames.find(
          ({ from, message }) => from === 'agent' && get(message?.error, 'code') === AUTH_REQUIRED,
        );
        expect(!asking, `it asks for authentication and offers none: ${show(asking?.text)}`);
      }
    },
  },
  {
    id: 'C040',
    level: 'SHOULD',
    title: 'an unknown authentication method is -32602',
    async run(world) {
      const client = await world.agent();
      if (methodsOf(client).length === 0) skip('it offers no authentication');
      expectError(
        await client.request('authenticate', { methodId: 'conformance-unknown' }),
        -32602,
        'an unknown method',
      );
    },
  },
]);

function methodsOf({ initialized }: Client): Record<string, unknown>[] {
  return list(get(initialized, 'authMethods')).filter(isObject);
}
