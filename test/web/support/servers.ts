/** Servers as these tests need them: with a link to sign in by, with a model that a test speaks for, or after a crash. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { FakeOpenAi } from '../../support/fake-openai.ts';
import {
  environmentFor,
  type RunningServer,
  startPixir,
  startServer,
  type Variables,
} from '../../support/processes.ts';

/** As somebody meets it who starts it in a terminal: its link signs one browser in. */
export async function startWithLink(
  dataDir: string,
  extra: Variables = {},
  args: string[] = [],
): Promise<RunningServer & { link: string }> {
  const running = startPixir(['serve', '--port', '0', ...args], environmentFor(dataDir, extra));
  const lines = createInterface({ input: running.child.stdout as Readable })[Symbol.asyncIterator]();
  const url = (await lines.next()).value?.replace(/^listening on /, '') ?? running.stderr();
  const link = (await lines.next()).value?.split(' ')[1] ?? running.stderr();
  return { ...running, url, link, token: (await readFile(join(dataDir, 'token'), 'utf8')).trim() };
}

/** Its Sessions work in `work`, beside the data. @param args of `pixir serve` */
export async function startWithModel(dataDir: string, fake: FakeOpenAi, args: string[] = []): Promise<RunningServer> {
  const workspace = join(dataDir, 'work');
  await mkdir(workspace, { recursive: true });
  const variables = { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: fake.baseUrl };
  return startServer(dataDir, variables, ['--workspace', workspace, ...args]);
}

/** For the next server: pages come back to the address that they know. */
export function samePort({ url }: Pick<RunningServer, 'url'>): string[] {
  return ['--port', new URL(url).port];
}

export async function kill({ child, exit }: RunningServer): Promise<void> {
  child.kill('SIGKILL');
  await exit();
}
