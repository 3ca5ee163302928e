/**
 * Where the pictures are taken: a server with a made-up model, folders that exist only meanwhile, a real Chromium, and for
 * all of them the same morning. It touches no folder that was there before it.
 */
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type FakeOpenAi, startFakeOpenAi } from '../../test/support/fake-openai.ts';
import { REPOSITORY, type RunningServer, startServer } from '../../test/support/processes.ts';
import { tempDir } from '../../test/support/temp-dir.ts';
import { chromiumPath } from '../../test/web/support/chromium.ts';
import { buildWeb } from '../build-web.ts';
import { recordPast } from './past.ts';
import { API, SHOP, writeProject } from './project.ts';

const PICTURES = join(REPOSITORY, 'docs', 'pictures');
const MORNING = Date.parse('2026-03-17T09:41:00Z');
const SCHEMES = ['light', 'dark'] as const;

const WINDOW: BrowserContextOptions = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 2 };
const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  hasTouch: true,
  isMobile: true,
};

export interface World extends AsyncDisposable {
  fake: FakeOpenAi;
  url: string;
  token: string;
  window(): Promise<Page>;
  phone(): Promise<Page>;
  /** A window that nobody has signed in. */
  stranger(): Promise<Page>;
  kill(): Promise<void>;
  /** Once more, where it was. */
  restart(): Promise<void>;
  /** Now there are Sessions of the days before; while no server runs. */
  recordPast(): Promise<void>;
}

export async function createWorld(): Promise<World> {
  await using stack = new AsyncDisposableStack();
  for (const folder of [SHOP, API]) {
    await mkdir(folder);
    stack.defer(() => rm(folder, { recursive: true, force: true }));
  }
  await writeProject(SHOP);
  const dir = stack.use(await tempDir());
  await mkdir(PICTURES, { recursive: true });
  await buildWeb({ ifNeeded: true });
  const fake = stack.use(await startFakeOpenAi());
  const shift = MORNING - Date.now();
  const start = (port: string) => startServer(dir.path, environment(fake, shift), ['--port', port]);
  // The address is in some pictures: the usual one, where nobody has it.
  let server: RunningServer = await start('7494').catch(() => start('0'));
  stack.defer(() => server[Symbol.asyncDispose]());
  const browser = await chromium.launch({ executablePath: await chromiumPath(), args: ['--no-sandbox'] });
  stack.defer(() => browser.close());

  async function open(options: BrowserContextOptions, signedIn = true): Promise<Page> {
    const context = await browser.newContext({
      ...options,
      locale: 'en-US',
      timezoneId: 'UTC',
      serviceWorkers: 'block',
    });
    await context.addInitScript(shifted(shift));
    // Without a screen Chromium refuses them before anybody has asked; people's browsers do not.
    await context.addInitScript("Object.defineProperty(Notification, 'permission', { get: () => 'default' })");
    const headers = { origin: server.url };
    if (signedIn) await context.request.post(`${server.url}/api/login`, { data: { token: server.token }, headers });
    const page = await context.newPage();
    await page.goto(server.url);
    return page;
  }

  const held = stack.move();
  return {
    fake,
    url: server.url,
    token: server.token,
    window: () => open(WINDOW),
    phone: () => open(PHONE),
    stranger: () => open(WINDOW, false),
    async kill() {
      server.child.kill('SIGKILL');
      await server.exit();
    },
    async restart() {
      server = await start(new URL(server.url).port);
    },
    recordPast: () => recordPast(dir.path, Date.now() + shift),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

function environment(fake: FakeOpenAi, shift: number): Record<string, string> {
  return {
    PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
    PIXIR_PROVIDER: 'openai',
    OPENAI_BASE_URL: fake.baseUrl,
    OPENAI_API_KEY: 'sk-made-up',
    PIXIR_WORKSPACES: `${SHOP}:${API}`,
    PIXIR_MODELS: 'gpt-5.4,gpt-5.4-mini',
    PIXIR_LOG_LEVEL: 'silent',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shifted(shift))}`,
  };
}

/** A clock that goes on as any, from that morning. */
function shifted(ms: number): string {
  return `globalThis.Date = class extends Date {
    constructor(...given) { if (given.length > 0) super(...given); else super(Date.now()); }
    static now() { return Math.round(super.now() + ${ms}); }
  };`;
}

/**
 * Takes it in light and dark. What moves stands still, and what is still being loaded or drawn has a moment.
 *
 * @param sharp at twice the resolution.
 */
export async function shoot(page: Page, name: string, { sharp = false } = {}): Promise<void> {
  await page.mouse.move(0, 0);
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate('document.fonts.ready.then(() => new Promise((drawn) => setTimeout(drawn, 250)))');
    const path = join(PICTURES, `${name}-${colorScheme}.png`);
    await page.screenshot({ path, animations: 'disabled', scale: sharp ? 'device' : 'css' });
  }
}
