/** `npm run conformance`: writes docs/conformance.md. */
import { writeFile } from 'node:fs/promises';
import { conformancePage, readTables } from './requirements.ts';

await writeFile('docs/conformance.md', conformancePage(await readTables('.')));
