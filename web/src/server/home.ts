/**
 * Where the server is. The page usually comes from it, behind whatever path a proxy puts in front; a copy at another
 * origin names it in its `pixir-server` meta element, and nobody can make the page talk to another one by a link.
 */
const declared = document.querySelector<HTMLMetaElement>('meta[name="pixir-server"]')?.content ?? '';

const home = new URL(declared === '' ? './' : declared.replace(/\/?$/, '/'), location.href.replace(/#.*/, ''));

/** The page has no cookie there: it keeps the token for as long as the tab lives, and trades it for tickets. */
export const isElsewhere = home.origin !== location.origin;

/** @param path without a slash in front: `acp`, `api/login`. */
export function atServer(path: string): URL {
  return new URL(path, home);
}
