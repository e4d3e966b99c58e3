/** Tests which changes of the state directory count as writes into the database. */
import { afterEach, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { watchDatabase } from '../../../../bridge/inbox/watch-database.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const nothing = (): void => undefined;
let stop = nothing;
afterEach(() => stop());

it('a change of the directory is reported only with another version; an error of a check ends no watch', async () => {
  const directory = await temporaryDirectory();
  const versions = [1, 1, new Error('locked'), 1, 2];
  const log: string[] = [];
  let checks = 0;
  let touched = nothing;
  const touch = async (): Promise<void> => {
    const checked = new Promise<void>((resolve) => (touched = resolve));
    await writeFile(join(directory, 'journal'), String(checks));
    await checked;
  };
  stop = watchDatabase({
    stateDirectory: directory,
    version: () => {
      const next = versions[Math.min(checks, versions.length - 1)] ?? 0;
      checks += 1;
      setImmediate(touched);
      if (next instanceof Error) throw next;
      return next;
    },
    onChange: () => log.push('change'),
    onError: (error) => log.push(String(error)),
  });
  while (checks < versions.length) await touch();
  expect(log).toEqual(['change', 'Error: locked', 'change']);
});
