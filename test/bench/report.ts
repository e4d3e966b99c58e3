/** The figures of a run as a table for people. */
import type { Figure, Unit } from './benchmark.ts';

export interface Section {
  title: string;
  figures: readonly Figure[];
}

const DIGITS: Readonly<Record<Unit, number>> = { ratio: 2, ms: 2, MB: 1, KB: 2, 'events/s': 0, count: 0 };
const HEADINGS = ['', 'reached', 'aim'] as const;

export function report(sections: readonly Section[]): string {
  const tables = sections.map(({ title, figures }) => [title, ...table(figures)].join('\n'));
  return `${tables.join('\n\n')}\n`;
}

function table(figures: readonly Figure[]): string[] {
  const rows = [HEADINGS, ...figures.map(({ name, ...rest }) => [name, reached(rest), aim(rest)] as const)];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map(([name, value, aimed]) =>
    `  ${name.padEnd(widths[0] ?? 0)}  ${value.padStart(widths[1] ?? 0)}  ${aimed}`.trimEnd(),
  );
}

function reached({ value, unit }: Pick<Figure, 'value' | 'unit'>): string {
  return withUnit(value.toFixed(DIGITS[unit]), unit);
}

function aim({ aim: it, unit }: Pick<Figure, 'aim' | 'unit'>): string {
  return it === undefined ? '' : `${it.at === 'least' ? '≥' : '≤'} ${withUnit(String(it.value), unit)}`;
}

function withUnit(number: string, unit: Unit): string {
  return unit === 'ratio' || unit === 'count' ? number : `${number} ${unit}`;
}
