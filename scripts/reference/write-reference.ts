/** `npm run reference`: writes the sections of docs/ that come from declarations in the code. */
import { writeFile } from 'node:fs/promises';
import { referencePages } from './pages.ts';

for (const { path, present, written } of await referencePages())
  if (written !== present) {
    await writeFile(path, written);
    process.stdout.write(`${path}\n`);
  }
