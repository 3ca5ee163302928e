/*
 * The service worker: the page opens without its server. It keeps the page and the files it is made of, whose names carry
 * the hash of their content, and nothing else: whatever is said to the server goes to the server.
 */
const HOME = new URL('./', self.location.href);
const ASSETS = new URL('./assets/', HOME).href;
const PREFIX = `pixir ${HOME.pathname} `;
/** The page itself; the files of each build of it have a cache of their own beside this one. */
const PAGE = `${PREFIX}page`;
const ICON = new URL('icon.svg', ASSETS).href;
const HASHED = /-[\w-]{8}\.\w+$/;
const ENTRY = /assets\/[\w.-]+-[\w-]{8}\.js/;
const PARTS = /[\w.-]+-[\w-]{8}\.(?:js|css)\b/g;
/** A network that is half there keeps nobody waiting for longer. */
const ANSWER_WITHIN_MS = 4_000;

self.addEventListener('install', (event) => event.waitUntil(keepPage(fetch(HOME))));

self.addEventListener('message', (event) => {
  const { data } = event;
  if (data?.type === 'take_over') self.skipWaiting();
  if (data?.type === 'keep') event.waitUntil(keepAll(data.assets));
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const address = request.url.split(/[?#]/)[0];
  if (request.method !== 'GET') return;
  if (request.mode === 'navigate' && address === HOME.href) event.respondWith(page(event));
  else if (address.startsWith(ASSETS) && HASHED.test(address)) event.respondWith(asset(request));
  else if (address === ICON) event.respondWith(fetch(request).catch(() => caches.match(ICON, { ignoreVary: true })));
});

/** The server's page; the kept one where it does not answer, or only what stands in front of it does. */
async function page(event) {
  const answer = fetch(event.request);
  event.waitUntil(keepPage(answer.then((response) => response.clone())).catch(() => undefined));
  const late = new Promise((resolve) => setTimeout(resolve, ANSWER_WITHIN_MS));
  const response = await Promise.race([answer.catch(() => undefined), late]);
  if (response && response.status < 500) return response;
  return (await caches.match(HOME, { cacheName: PAGE, ignoreVary: true })) ?? response ?? answer;
}

/** A file with a hash in its name never changes. */
async function asset(request) {
  const kept = await caches.match(request, { ignoreVary: true });
  if (kept) return kept;
  const response = await fetch(request);
  if (response.ok) await (await currentBuild())?.put(request, response.clone());
  return response;
}

/** Keeps a page that the server has just given, with its parts, and lets go of every build but this one and the last. */
async function keepPage(answer) {
  const response = await answer;
  if (!response.ok || response.redirected) return;
  const entry = ENTRY.exec(await response.clone().text())?.[0];
  if (entry === undefined) return;
  const pages = await caches.open(PAGE);
  const before = await pages.match(HOME);
  await pages.put(HOME, response);
  await pages.add(ICON);
  const previous = before && ENTRY.exec(await before.text())?.[0];
  if (entry === previous) return;
  // A page of the last build may still be open, and wants its parts when the server has none of them any more.
  const names = new Set([PAGE, nameOf(entry), ...(previous ? [nameOf(previous)] : [])]);
  for (const name of await caches.keys()) if (name.startsWith(PREFIX) && !names.has(name)) await caches.delete(name);
  await keepParts(entry);
}

/** The parts that the page may load later are named in the one that it begins with. */
async function keepParts(entry) {
  const build = await caches.open(nameOf(entry));
  const response = await fetch(new URL(entry, HOME));
  if (!response.ok) return;
  await build.put(new URL(entry, HOME), response.clone());
  const parts = new Set((await response.text()).match(PARTS));
  await Promise.allSettled([...parts].map((part) => build.add(ASSETS + part)));
}

async function keepAll(assets) {
  const build = await currentBuild();
  const missing = assets.filter((address) => address.startsWith(ASSETS) && HASHED.test(address));
  await Promise.allSettled(missing.map(async (address) => (await build?.match(address)) ?? build?.add(address)));
}

async function currentBuild() {
  const kept = await (await caches.open(PAGE)).match(HOME);
  const entry = kept && ENTRY.exec(await kept.text())?.[0];
  return entry === undefined ? undefined : caches.open(nameOf(entry));
}

function nameOf(entry) {
  return `${PREFIX}${entry}`;
}

/** A notification leads to its Session: in a tab that is open, or in a new one. */
self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(goTo(event.notification.data?.sessionId));
});

async function goTo(sessionId) {
  if (sessionId === undefined) return;
  const all = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const open = all.find(({ url }) => url.startsWith(HOME.href));
  if (!open) return self.clients.openWindow(`${HOME.href}#/s/${encodeURIComponent(sessionId)}`);
  await open.focus();
  open.postMessage({ sessionId });
}
