/** Compares the figures of two runs. Pure. */
import type { Figure, Section, Unit } from './benchmark.ts';

/**
 * The result of a comparison. With `changed`, the difference is more than noise, but no direction is better. With
 * `new`, the earlier run has no such figure.
 */
export type Verdict = 'better' | 'worse' | 'changed' | 'same' | 'new';

export interface ComparedFigure {
  figure: Figure;
  /** The value of the earlier run. */
  old: number | undefined;
  /** The difference relative to the earlier value. Undefined without an earlier value, or if that value is 0. */
  change: number | undefined;
  verdict: Verdict;
}

export interface ComparedSection {
  title: string;
  figures: readonly ComparedFigure[];
}

/** A smaller change counts as noise. `relative` is a share of the earlier value, `absolute` is in the figure's unit. */
const NOISE: Readonly<Record<Unit, { relative: number; absolute: number }>> = {
  ratio: { relative: 0.15, absolute: 0.05 },
  ms: { relative: 0.25, absolute: 0.3 },
  MB: { relative: 0.05, absolute: 1 },
  KB: { relative: 0.2, absolute: 1 },
  'events/s': { relative: 0.25, absolute: 0 },
  'tasks/s': { relative: 0.25, absolute: 0 },
  count: { relative: 0, absolute: 0 },
};

/** The better direction for each unit. For a ratio, the aim of the figure gives the direction. */
const BETTER: Readonly<Record<Unit, 'least' | 'most' | undefined>> = {
  ratio: undefined,
  ms: 'most',
  MB: 'most',
  KB: 'most',
  'events/s': 'least',
  'tasks/s': 'least',
  count: 'most',
};

/** Compares each figure with the figure of the same section and name. Drops figures that only the earlier run has. */
export function compare(earlier: readonly Section[], now: readonly Section[]): ComparedSection[] {
  return now.map(({ id, title, figures }) => {
    const before = earlier.find((section) => section.id === id)?.figures ?? [];
    return {
      title,
      figures: figures.map((figure) =>
        compareFigure(
          before.find(({ name }) => name === figure.name),
          figure,
        ),
      ),
    };
  });
}

function compareFigure(before: Figure | undefined, figure: Figure): ComparedFigure {
  if (before === undefined) return { figure, old: undefined, change: undefined, verdict: 'new' };
  const old = before.value;
  const difference = figure.value - old;
  const change = old === 0 ? undefined : difference / Math.abs(old);
  return { figure, old, change, verdict: isNoise(before, figure) ? 'same' : judged(figure, difference) };
}

function isNoise(before: Figure, { value, unit, spread }: Figure): boolean {
  const { relative, absolute } = NOISE[unit];
  const difference = Math.abs(value - before.value);
  if (difference <= Math.max(absolute, relative * Math.abs(before.value))) return true;
  if (before.spread === undefined || spread === undefined) return false;
  // If the ranges overlap, both runs may have the same true value.
  return before.spread[0] <= spread[1] && spread[0] <= before.spread[1];
}

function judged({ unit, aim }: Figure, difference: number): Verdict {
  const at = aim?.at ?? BETTER[unit];
  if (at === undefined) return 'changed';
  return difference > 0 === (at === 'least') ? 'better' : 'worse';
}
