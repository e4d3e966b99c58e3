/** The command blocks of the documents, each with its reading. */
import { readBlocks, type ShellBlock } from '../shell-blocks.ts';
import type { Reading, Run } from './reading.ts';
import { READINGS } from './readings.ts';

export interface PlannedRun extends Run {
  block: ShellBlock;
}

/** Returns the heading of each reading, once for each block that it expects there. */
export function plannedHeadings(): string[] {
  return Object.entries(READINGS).flatMap(([page, readings]) =>
    Object.entries(readings).flatMap(([section, each]) => listOf(each).map(() => `${page}: ${section}`)),
  );
}

export const headingOf = ({ page, section }: ShellBlock): string => `${page}: ${section}`;

/** @returns the reading of each block; undefined if a block has no reading */
export function readingsOfBlocks(): (readonly [ShellBlock, Reading | undefined])[] {
  const seen = new Map<string, number>();
  return readBlocks().map((block) => {
    const heading = headingOf(block);
    const number = seen.get(heading) ?? 0;
    seen.set(heading, number + 1);
    return [block, listOf(READINGS[block.page]?.[block.section] ?? [])[number]];
  });
}

/** Returns the blocks that share a home and a shell, by their first heading. */
export function scenes(): Map<string, PlannedRun[]> {
  const found = new Map<string, PlannedRun[]>();
  let [name, before] = ['', ''];
  for (const [block, reading] of readingsOfBlocks()) {
    if (reading === undefined || 'notRun' in reading) continue;
    const heading = headingOf(block);
    if (!(reading.continues ?? heading === before)) name = `${heading}${found.has(heading) ? ' (more)' : ''}`;
    before = heading;
    found.set(name, [...(found.get(name) ?? []), { ...reading, block }]);
  }
  return found;
}

function listOf(readings: Reading | readonly Reading[]): readonly Reading[] {
  return isList(readings) ? readings : [readings];
}

function isList(readings: Reading | readonly Reading[]): readings is readonly Reading[] {
  return Array.isArray(readings);
}
