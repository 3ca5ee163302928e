/** Numbers, times and paths in the few words that a card has room for. Pure: the time is an argument. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** `0.4 s`, `12 s`, `2 min 5 s`, `1 h 3 min`. */
export function durationText(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  return wholeSeconds(ms);
}

/** For what goes on: a fraction would only flicker. */
export function elapsedText(milliseconds: number): string {
  return wholeSeconds(Math.max(0, milliseconds));
}

function wholeSeconds(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return joined(Math.floor(ms / MINUTE), 'min', Math.floor((ms % MINUTE) / SECOND), 's');
  return joined(Math.floor(ms / HOUR), 'h', Math.floor((ms % HOUR) / MINUTE), 'min');
}

function joined(many: number, unit: string, few: number, smaller: string): string {
  return few === 0 ? `${many} ${unit}` : `${many} ${unit} ${few} ${smaller}`;
}

/** How long a decision can still be given; in seconds only in the last minute, which is `urgent`. */
export function countdown(left: number): { text: string; urgent: boolean } {
  if (left <= 0) return { text: 'expired', urgent: true };
  if (left < MINUTE) return { text: `expires in ${Math.ceil(left / SECOND)} s`, urgent: true };
  return { text: `expires in ${wholeSeconds(Math.floor(left / MINUTE) * MINUTE)}`, urgent: false };
}

/** `950`, `1.5k`, `34k`, `1.2M` tokens. */
export function tokensText(count: number): string {
  if (count < 1_000) return String(count);
  // Where rounding would say `1000k`, it is a million.
  return count < 999_500 ? `${short(count / 1_000)}k` : `${short(count / 1_000_000)}M`;
}

function short(value: number): string {
  return value < 9.95 ? value.toFixed(1).replace(/\.0$/, '') : String(Math.round(value));
}

/** As a person in that directory would write it; absolute where it is elsewhere. */
export function relativePath(path: string, cwd: string | undefined): string {
  if (cwd === undefined || cwd === '') return path;
  const base = cwd.replace(/(?<=.)[/\\]$/, '');
  if (path === base) return '.';
  const inside = path.startsWith(base) ? path.slice(base.length) : undefined;
  if (inside === undefined) return path;
  if (base === '/' || base === '\\') return inside;
  return /^[/\\]./.test(inside) ? inside.slice(1) : path;
}

export function counted(count: number, thing: string): string {
  return `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`;
}
