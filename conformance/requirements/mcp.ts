/** MCP servers that a client brings along. */
import { join } from 'node:path';
import { expect, get, type Requirement, restingOn, show, skip } from '../requirement.ts';
import { expectError } from '../steps.ts';

const WORKING = {
  name: 'conformance',
  command: process.execPath,
  args: [join(import.meta.dirname, '..', 'mcp-server.ts')],
  env: [],
};
const SECRET = 'conformance-secret-7f3a';

export const mcp: Requirement[] = restingOn('SESSION-001', [
  {
    id: 'C033',
    level: 'MUST',
    title: 'an MCP server on stdio is accepted',
    async run(world) {
      const client = await world.agent();
      const { result, error } = await client.request('session/new', { cwd: world.cwd, mcpServers: [WORKING] });
      expect(get(result, 'sessionId'), `session/new with an MCP server: ${show(error)}`);
    },
  },
  {
    id: 'C033b',
    level: 'SHOULD',
    title: 'an MCP server over HTTP or SSE that is not offered is -32602',
    async run(world) {
      const client = await world.agent();
      const types = ['http', 'sse'].filter(
        (type) => !get(client.initialized, `agentCapabilities.mcpCapabilities.${type}`),
      );
      if (types.length === 0) skip('it offers both');
      for (const type of types) {
        const server = { type, name: 'remote', url: 'http://127.0.0.1:9/', headers: [] };
        const answer = await client.request('session/new', { cwd: world.cwd, mcpServers: [server] });
        expectError(answer, -32602, `an MCP server over ${type}`);
      }
    },
  },
  {
    id: 'C034',
    level: 'MAY',
    title: 'a Session is made although one of its MCP servers is broken',
    restsOn: ['C033'],
    async run(world) {
      const client = await world.agent();
      const broken = { name: 'broken', command: join(world.cwd, 'conformance-no-such-command'), args: [], env: [] };
      const { result, error } = await client.request('session/new', { cwd: world.cwd, mcpServers: [WORKING, broken] });
      expect(get(result, 'sessionId'), `session/new with a broken MCP server: ${show(error)}`);
    },
  },
  {
    id: 'C016',
    level: 'MAY',
    title: 'an error does not repeat the secrets of an MCP server',
    async run(world) {
      const client = await world.agent();
      const server = { name: 'secret', command: 5, args: [], env: [{ name: 'TOKEN', value: SECRET }] };
      const { error } = await client.request('session/new', { cwd: world.cwd, mcpServers: [server] });
      if (!error) skip('it accepts an MCP server without a command');
      expect(!JSON.stringify(error).includes(SECRET), 'the error holds a secret of the MCP server');
    },
  },
]);
