/** Prints figures as tables: for a terminal, for a comparison, and as Markdown. Pure. */
import type { Figure, Section, Unit } from './benchmark.ts';
import type { ComparedFigure, ComparedSection, Verdict } from './compare.ts';

const DIGITS: Readonly<Record<Unit, number>> = {
  ratio: 2,
  ms: 2,
  MB: 1,
  KB: 2,
  'events/s': 0,
  'tasks/s': 1,
  count: 0,
};
const MARKS: Readonly<Record<Verdict, string>> = {
  worse: '✗ worse',
  better: '✓ better',
  changed: '≠ changed',
  new: 'new',
  same: '',
};

export function report({ title, figures }: Omit<Section, 'id'>): string {
  const rows = figures.map((figure) => [figure.name, reached(figure), aim(figure)]);
  return `${[title, ...aligned(['', 'reached', 'aim'], rows)].join('\n')}\n`;
}

export function comparison({ title, figures }: ComparedSection): string {
  const rows = figures.map(({ figure, old, change, verdict }) => [
    figure.name,
    old === undefined ? '' : reached({ ...figure, value: old }),
    reached(figure),
    percent(change),
    MARKS[verdict],
  ]);
  return `${[title, ...aligned(['', 'old', 'new', 'change', ''], rows)].join('\n')}\n`;
}

/** Returns one line with the number and the names of the figures that became worse. */
export function summary(sections: readonly ComparedSection[]): string {
  const all = sections.flatMap(({ figures }) => figures);
  const worse = all.filter(({ verdict }) => verdict === 'worse').map(({ figure }) => figure.name);
  const better = all.filter(({ verdict }) => verdict === 'better').length;
  const names = worse.length === 0 ? '' : ` (${worse.join('; ')})`;
  return `${String(all.length)} figures: ${String(worse.length)} worse${names}, ${String(better)} better\n`;
}

export function markdownTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [figure.name, reached(figure), aim(figure)]);
  return [['what', 'reached', 'aim'], ['---', '---:', '---:'], ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
}

/** Aligns the first and the last column left, and all other columns right. */
function aligned(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) => {
    const cells = row.map((cell, column) =>
      column === 0
        ? cell.padEnd(widths[0] ?? 0)
        : column === row.length - 1
          ? cell
          : cell.padStart(widths[column] ?? 0),
    );
    return `  ${cells.join('  ')}`.trimEnd();
  });
}

function percent(change: ComparedFigure['change']): string {
  if (change === undefined) return '';
  return `${change > 0 ? '+' : ''}${(change * 100).toFixed(0)} %`;
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
