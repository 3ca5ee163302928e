/** The table of commands: a name, what help says of it, and its file, which is loaded when it is run. */
import type { Command } from './command.ts';

interface CommandEntry {
  usage: string;
  summary: string;
  load(): Promise<Command>;
}

export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  serve: {
    usage:
      'pixir serve [--host H] [--port P] [--data-dir D] [--workspace DIR]... [--tls-cert F --tls-key F] [--behind-proxy ADDRESS,...] [--public-url URL]',
    summary: 'the server: ACP over WebSocket at /acp',
    load: async () => (await import('./serve.ts')).serve,
  },
  acp: {
    usage: 'pixir acp [--data-dir D] [--connect URL --token-file F]',
    summary: 'ACP over stdio, for editors',
    load: async () => unlessLogin((await import('./acp.ts')).acp),
  },
  run: {
    usage: 'pixir run PROMPT [--cwd D] [--mode M] [--permission-mode P] [--session ID] [--json] [--data-dir D]',
    summary: 'one prompt, streamed to the terminal; --json prints one Event a line',
    load: async () => (await import('./run.ts')).run,
  },
  sessions: {
    usage:
      'pixir sessions list | show ID | export ID [--markdown] | delete ID | verify [ID] | audit [ID]  [--data-dir D]',
    summary:
      'the Log from the shell; export names images and resources by hash and size, backup holds them; verify re-computes the check chain',
    load: async () => (await import('./sessions.ts')).sessions,
  },
  token: {
    usage:
      'pixir token create NAME [--scope S]... [--owner O] [--workspace DIR]... [--expires 30d] | list | revoke NAME  [--data-dir D]',
    summary: 'credentials for other devices, people and programs; scopes: observe, prompt, approve, admin',
    load: async () => (await import('./token-command.ts')).token,
  },
  login: {
    usage: 'pixir login [--remove] [--data-dir D]',
    summary: 'asks for an API key, without showing it or from stdin, has it checked by the model server and keeps it',
    load: async () => (await import('./login.ts')).login,
  },
  backup: {
    usage: 'pixir backup FILE [--data-dir D]',
    summary: 'online backup of the database',
    load: async () => (await import('./backup.ts')).backup,
  },
  doctor: {
    usage: 'pixir doctor [--json] [--data-dir D]',
    summary: 'checks Node, data directory, database, provider and port, and says what to do',
    load: async () => (await import('./doctor.ts')).doctor,
  },
};

/** To let a person log in, an editor runs what it starts the agent with, and `login` after it. */
function unlessLogin(command: Command): Command {
  return {
    async run(args, io) {
      if (args.at(-1) !== 'login') return await command.run(args, io);
      const { login } = await import('./login.ts');
      return await login.run(args.slice(0, -1), io);
    },
  };
}

export function helpText(name?: string): string {
  const entry = name === undefined ? undefined : COMMANDS[name];
  if (entry) return `${entry.usage}\n\n${entry.summary}\n`;
  const width = Math.max(...Object.keys(COMMANDS).map((command) => command.length));
  const lines = Object.entries(COMMANDS).map(([command, { summary }]) => `  ${command.padEnd(width)}  ${summary}`);
  return [
    'pixir: an agent server that never loses your place',
    '',
    ...lines,
    '',
    'pixir help COMMAND tells more of one; pixir --version tells the version.',
    '',
  ].join('\n');
}
