/**
 * Draws the icons of web/public/assets anew from icon.svg, with Chromium (CHROMIUM_PATH, or the system's). Only needed when
 * icon.svg has changed: the pictures are committed.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const ASSETS = join(import.meta.dirname, '..', 'web', 'public', 'assets');

/** Where the system cuts the edges off (iOS, maskable), the square goes to the edges and the sign stays in the middle. */
const PICTURES = [
  { name: 'icon-180.png', size: 180, full: true },
  { name: 'icon-192.png', size: 192, full: false },
  { name: 'icon-512.png', size: 512, full: false },
  { name: 'icon-maskable-512.png', size: 512, full: true },
];

const rounded = await readFile(join(ASSETS, 'icon.svg'), 'utf8');
const square = rounded.replace('rx="8"', '').replace('<g ', '<g transform="translate(3.2 3.2) scale(.8)" ');

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
await using browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
for (const { name, size, full } of PICTURES) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  await page.setContent(
    `<style>body{margin:0}svg{display:block;width:100vw;height:100vh}</style>${full ? square : rounded}`,
  );
  await page.screenshot({ path: join(ASSETS, name), omitBackground: true });
}
