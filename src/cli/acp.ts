/** `pixir acp`: the same agent over stdin and stdout. stdout carries JSON-RPC and nothing else; the end of stdin ends it. */
import { stopAll } from '../core/conversation.ts';
import { type Command, EXIT, readArgs } from './command.ts';
import { compose } from './compose.ts';
import { loadConfig } from './config.ts';
import { serveStdio } from './stdio.ts';

export const acp: Command = {
  async run(args, io) {
    const { values } = readArgs(args, { options: { 'data-dir': { type: 'string' } } });
    const config = loadConfig({ command: 'acp', flags: { dataDir: values['data-dir'] } }, io.env);
    await using stack = new AsyncDisposableStack();
    const agent = stack.adopt(await compose(config, io.env), ({ close }) => close('interrupt'));
    io.signal.addEventListener('abort', () => io.stdin.destroy(), { once: true });
    await serveStdio({
      input: io.stdin,
      output: io.stdout,
      openPeer: agent.openPeer,
      principal: 'local',
      inputEnded: () => stopAll(agent.runtime, 'interrupt'),
    });
    return EXIT.done;
  },
};
