import { expect, it } from '@jest/globals';
import { basename } from 'node:path';
import { globSync } from 'tinyglobby';
import { EQUIVALENTS } from './equivalents.ts';
import { changeOf, faultsIn, lineOf, SOURCES } from './fault.ts';

it('each fault that no test can find is still a fault of the core', async () => {
  const faults = await faultsIn(globSync(SOURCES));
  const names = new Set(
    faults.map((fault) => JSON.stringify([basename(fault.file), lineOf(fault), changeOf(fault)])),
  );
  expect(
    EQUIVALENTS.filter(({ file, line, change }) => !names.has(JSON.stringify([file, line, change]))),
  ).toEqual([]);
});
