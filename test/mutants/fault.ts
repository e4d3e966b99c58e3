/** A small fault in a source file of the core. */
import { readFile } from 'node:fs/promises';
import { mutationsOf, type Mutation } from './mutations.ts';

/** The files that get faults, as globs. */
export const SOURCES = [
  'a2a-server/task/**/*.ts',
  'a2a-server/policy/*.ts',
  'a2a-server/executor/queries/follow-task-journal.ts',
];

export interface Fault {
  file: string;
  /** The text of the source file at the start of the run. */
  source: string;
  mutation: Mutation;
}

/** Returns the source line of the fault, without its indentation. */
export function lineOf({ source, mutation: { line } }: Fault): string {
  return source.split('\n')[line - 1]?.trim() ?? '';
}

/** Returns the change in the form `original → replacement`. */
export function changeOf({ source, mutation: { from, to, text } }: Fault): string {
  return `${source.slice(from, to).replaceAll(/\s+/g, ' ')} → ${text}`;
}

/** Returns all faults that can be put into these files. */
export async function faultsIn(files: readonly string[]): Promise<Fault[]> {
  const all: Fault[] = [];
  for (const file of files) {
    const source = await readFile(file, 'utf8');
    for (const mutation of mutationsOf(source)) all.push({ file, source, mutation });
  }
  return all;
}
