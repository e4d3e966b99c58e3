/** Tests the licence texts of the packages whose code the build contains. */
import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  packagesOfNotices,
  packagesWithoutText,
  problemsOfLicences,
} from '../../scripts/release/licences.ts';

const manifest = z.object({ version: z.string(), license: z.string() });

describe('the notices of the packages in the build', () => {
  it('each package has a licence that this project accepts, and its text', async () => {
    const notices = await readFile(join('dist', 'THIRD_PARTY_NOTICES.txt'), 'utf8');
    const packages = packagesOfNotices(notices);
    expect(packages.length).toBeGreaterThan(100);
    expect(problemsOfLicences(packages)).toEqual([]);
    expect(packagesWithoutText(notices)).toEqual([]);
  });

  it.each(['@a2a-js/sdk', 'express', 'preact', 'zod'])(
    '%s has its version and its licence text',
    async (name) => {
      const directory = join('node_modules', name);
      const { version, license } = manifest.parse(
        JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')),
      );
      const notices = await readFile(join('dist', 'THIRD_PARTY_NOTICES.txt'), 'utf8');
      const text = await readFile(join(directory, 'LICENSE'), 'utf8');
      expect(notices).toContain(`${name} ${version} (${license})\n\n${text}`);
    },
  );

  it('the data of the known models have their licence too', async () => {
    const notices = await readFile(join('dist', 'THIRD_PARTY_NOTICES.txt'), 'utf8');
    const licence = await readFile('a2a-server/models/known-models.licence.txt', 'utf8');
    expect(notices).toContain(`The data of a2a-server/models/known-models.json\n\n${licence}`);
  });
});
