/**
 * Tasks for the offline model with effects that the test can count: each effect writes one line with its own name
 * into a file.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { append, plan, shell, wait, type PlannedCall, type PlannedStep } from '../support/offline-plan.ts';
import type { Random } from './random.ts';

export interface Workload {
  /** A name that only this task's text contains. */
  name: string;
  text: string;
  /** One name for each effect. */
  markers: readonly string[];
}

/** Creates a task of a few turns in random order: single and parallel effects, read-only calls, and long text. */
export function randomWorkload(random: Random, name: string): Workload {
  const markers: string[] = [];
  const effect = (): PlannedCall => {
    const marker = `${name}e${markers.length + 1}`;
    markers.push(marker);
    if (random.chance(0.5)) return append(`${marker}.txt`, `${marker}\n`);
    const line = `echo ${marker} >> shell.txt`;
    const nap = `sleep 0.${random.between(1, 3)}`;
    return shell(random.pick([line, `${line}; echo out`, `${line}; ${nap}`, `${nap}; ${line}`]));
  };
  const look = (): PlannedCall =>
    random.pick<() => PlannedCall>([
      () => ({ tool: 'list-files', input: {} }),
      () => wait(random.between(0, 60) / 1000),
      () => ({ tool: 'search-files', input: { pattern: name } }),
    ])();
  const kinds: readonly [() => PlannedStep, ...(() => PlannedStep)[]] = [
    effect,
    effect,
    look,
    () => ({ together: [effect(), effect()] }),
    () => ({ together: [look(), effect(), look(), effect()] }),
    () => ({ say: `${name} says a thing or two. `, repeat: random.between(2, 300) }),
  ];
  const steps = Array.from({ length: random.between(1, 4) }, () => random.pick(kinds)());
  steps.push(effect());
  return workloadOf(name, steps, markers);
}

/** Creates a task with each kind of step once, always in the same order. */
export function fixedWorkload(name: string): Workload {
  const [one, two, three] = [`${name}e1`, `${name}e2`, `${name}e3`];
  return workloadOf(
    name,
    [
      { say: 'We begin. ', repeat: 3 },
      { tool: 'list-files', input: {} },
      { together: [append(`${one}.txt`, `${one}\n`), shell(`echo ${two} >> shell.txt`)] },
      shell(`echo ${three} >> shell.txt; echo out`),
      { say: 'We end.' },
    ],
    [one, two, three],
  );
}

/** Creates a task with one effect and little text. */
export function smallWorkload(name: string): Workload {
  return workloadOf(name, [shell(`echo ${name}e1 >> shell.txt`)], [`${name}e1`]);
}

function workloadOf(name: string, steps: readonly PlannedStep[], markers: readonly string[]): Workload {
  return { name, text: plan({ say: `Flow ${name} begins. ` }, ...steps), markers };
}

/**
 * Returns the person's edit of a call's input. The edited call has a different effect, so the test can tell them
 * apart.
 */
export function editedInput(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.replaceAll(/\b\w+e\d+\b/g, editedMarker) : value,
    ]),
  );
}

export const editedMarker = (marker: string): string => `${marker}edited`;

/** Counts the effects of each name in the files of the workspace. */
export async function countEffects(workspace: string): Promise<(marker: string) => number> {
  const names = (await readdir(workspace)).filter((name) => name.endsWith('.txt'));
  const texts = await Promise.all(names.map((name) => readFile(join(workspace, name), 'utf8')));
  const lines = texts.flatMap((text) => text.split('\n'));
  return (marker) => lines.filter((line) => line === marker).length;
}
