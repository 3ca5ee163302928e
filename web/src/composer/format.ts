/** Sizes, durations and times as people read them. Never more digits than they need. */

const UNITS = ['B', 'kB', 'MB', 'GB'];

/** In powers of a thousand: `512 B`, `1.2 kB`, `34 MB`. */
export function bytesText(bytes: number): string {
  let size = bytes;
  let unit = 0;
  // What would be rounded to four digits belongs to the next unit.
  while (size >= (unit === 0 ? 1000 : 999.5) && unit < UNITS.length - 1) {
    size /= 1000;
    unit++;
  }
  const digits = unit > 0 && size < 9.95 ? 1 : 0;
  return `${size.toFixed(digits).replace(/\.0$/, '')} ${UNITS[unit]}`;
}

/** `0:07`, `12:34`, `1:02:03`. */
export function clockText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [first = 0, ...rest] = parts[0] === 0 ? parts.slice(1) : parts;
  return [first, ...rest.map((part) => String(part).padStart(2, '0'))].join(':');
}

const TIME = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
});
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** The time of day to the millisecond, as clocks here show it; with the day, where that is not today. */
export function timeText(iso: string, now: Date): string {
  const at = new Date(iso);
  const isToday = at.toDateString() === now.toDateString();
  return isToday ? TIME.format(at) : `${DAY.format(at)} ${TIME.format(at)}`;
}
