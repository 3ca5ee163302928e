/** Installs the service worker that keeps the page for when there is no server. Where that fails, the page works as before. */
import { connection } from '../server/client.ts';
import { isElsewhere } from '../server/home.ts';

const RELOADED = 'pixir.reloaded';
const NOT_AGAIN_MS = 60_000;

export function installWorker(): void {
  addEventListener('vite:preloadError', reloadOnce);
  if (isElsewhere || !import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  if (document.readyState === 'complete') register();
  else addEventListener('load', register, { once: true });
}

function register(): void {
  navigator.serviceWorker
    .register('./sw.js', { updateViaCache: 'none' })
    .then(() => navigator.serviceWorker.ready)
    .then(({ active, waiting }) => {
      // It works for every build of the page, so nothing that runs is in its way.
      waiting?.postMessage({ type: 'take_over' });
      (waiting ?? active)?.postMessage({ type: 'keep', assets: loadedAssets() });
    })
    .catch(() => undefined);
}

/** What this page is made of so far was loaded before there was a worker. */
function loadedAssets(): string[] {
  return performance
    .getEntriesByType('resource')
    .map(({ name }) => name)
    .filter((name) => name.includes('/assets/'));
}

/** A part of the page that the server does not have any more: there is a newer page. What is written is kept. */
function reloadOnce(): void {
  const last = Number(sessionStorage.getItem(RELOADED) ?? 0);
  if (connection.get().kind !== 'live' || Date.now() - last < NOT_AGAIN_MS) return;
  sessionStorage.setItem(RELOADED, String(Date.now()));
  location.reload();
}
