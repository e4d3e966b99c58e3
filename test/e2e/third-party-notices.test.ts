/** Tests the licence texts of the packages whose code the build contains. */
import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** Licences that allow the distribution under Apache-2.0. A new one needs a look before it is added. */
const ACCEPTED = ['Apache-2.0', 'MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0'];

const manifest = z.object({ version: z.string(), license: z.string() });

describe('the notices of the packages in the build', () => {
  it('each package has a licence that this project accepts', async () => {
    const notices = await readFile(join('dist', 'THIRD_PARTY_NOTICES.txt'), 'utf8');
    const licences = [...notices.matchAll(/^={80}\n(\S+) \S+ \((.+)\)$/gm)].map(([, name, licence]) => ({
      name,
      licence,
    }));
    expect(licences.length).toBeGreaterThan(100);
    expect(licences.filter(({ licence = '' }) => !ACCEPTED.includes(licence))).toEqual([]);
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
});
