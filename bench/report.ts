/** What a group hands back, and how it is printed: the floor and ours side by side, the aim, and an honest verdict. */

export interface Row {
  name: string;
  unit: string;
  /** What the floor, or the agent on the official SDK, needs. */
  floor?: number;
  ours?: number;
  aim?: Aim;
  note?: string;
}

interface Aim {
  value: number;
  better: 'lower' | 'higher';
}

export interface GroupReport {
  title: string;
  /** What the column of floors holds in this group. */
  floor: string;
  rows: Row[];
}

const HEADINGS = ['ours', 'aim', 'verdict'];

export function printTable(reports: readonly GroupReport[]): string {
  const tables = reports.map(({ title, floor, rows }) => [[title, floor, ...HEADINGS, ''], ...rows.map(cells)]);
  const widths = HEADINGS.concat('', '').map((_, column) =>
    Math.max(...tables.flatMap((table) => table.map((row) => (row[column] ?? '').length))),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        column === 0 || column > 3 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return tables
    .map(([heading = [], ...rows]) => {
      const head = line(heading);
      return [head, '-'.repeat(head.length), ...rows.map(line)].join('\n');
    })
    .join('\n\n');
}

function cells({ name, unit, floor, ours, aim, note = '' }: Row): string[] {
  return [`${name}, ${unit}`, shown(floor), shown(ours), aim ? shown(aim.value) : '', verdict(ours, aim), note];
}

function verdict(ours: number | undefined, aim: Aim | undefined): string {
  if (ours === undefined || aim === undefined) return '';
  const reached = aim.better === 'lower' ? ours <= aim.value : ours >= aim.value;
  if (reached) return 'reached';
  return `missed: ${shown(ours)} (aim ${shown(aim.value)})`;
}

function shown(value: number | undefined): string {
  if (value === undefined) return '';
  if (value >= 1_000) return Math.round(value).toLocaleString('en');
  return value >= 100 ? value.toFixed(0) : value.toPrecision(value >= 10 ? 3 : 2);
}
