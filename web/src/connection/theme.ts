/** The theme the person has chosen, as the styles and the browser's own frame read it. It names no colour of its own. */
import { settings } from '../state/settings.ts';

const metas = [...document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')];
const bySystem = metas.map(({ content }) => content);

/** Now, and whenever it is chosen anew, in this tab or another. */
export function followTheme(): void {
  apply();
  settings.subscribe(apply);
}

function apply(): void {
  const { theme } = settings.get();
  const root = document.documentElement;
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
  for (const [index, meta] of metas.entries())
    meta.content = theme === 'system' ? (bySystem[index] ?? '') : getComputedStyle(root).backgroundColor;
}
