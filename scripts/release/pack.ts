/** Packs this checkout. */
import { join } from 'node:path';
import { z } from 'zod';
import { outputOf } from './run-command.ts';

const packed = z.object({ filename: z.string() });
/** npm 11 prints a list. Newer versions print an object with the names of the packages as keys. */
const answer = z.union([z.array(packed), z.record(z.string(), packed)]);

/** @returns the path of the package in the directory */
export async function pack(directory: string): Promise<string> {
  const printed = await outputOf('npm', [
    'pack',
    '--ignore-scripts',
    '--json',
    '--pack-destination',
    directory,
  ]);
  const [first] = Object.values(answer.parse(JSON.parse(printed)));
  if (first === undefined) throw new Error('npm has packed nothing.');
  return join(directory, first.filename);
}
