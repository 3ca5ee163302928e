import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { serveStdio } from '../../src/cli/stdio.ts';
import { agentContract } from '../contracts/agent.ts';
import { WireClient } from '../support/wire-client.ts';

agentContract('stdio', async (openPeer, defer) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const done = serveStdio({ input, output, openPeer, principal: 'local' });
  // An editor that goes away takes both ends of the pipe with it.
  const close = () => {
    output.destroy();
    input.destroy();
  };
  const client = new WireClient().open({ send: (text) => input.write(`${text}\n`), close });
  void done.then(client.ended);
  const lines = createInterface({ input: output });
  lines.on('line', client.receive);
  defer(async () => {
    close();
    await done;
    lines.close();
  });
  return client;
});
