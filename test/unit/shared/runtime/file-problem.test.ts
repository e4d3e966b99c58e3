import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fileProblem, newFileProblem } from '../../../../shared/runtime/file-problem.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const failure = (work: Promise<unknown>) => work.catch((error: unknown) => error);

describe('the reason why a file cannot be used', () => {
  it.each([
    ['missing', 'it does not exist'],
    ['directory', 'it is a directory'],
    ['file/below', 'a part of the path is a file, not a directory'],
  ])('the reason for %s is "%s", without the path and the code of the system', async (name, reason) => {
    const root = await temporaryDirectory();
    await mkdir(join(root, 'directory'));
    await writeFile(join(root, 'file'), '');
    expect(fileProblem(await failure(readFile(join(root, name))))).toBe(reason);
  });

  it('a new file in a missing directory is a problem of the directory', async () => {
    const path = join(await temporaryDirectory(), 'missing', 'file');
    expect(newFileProblem(await failure(writeFile(path, '')))).toBe('its directory does not exist');
  });

  it('an error without a known code keeps its message', () =>
    expect(fileProblem(new Error('its key is too short'))).toBe('its key is too short'));
});
