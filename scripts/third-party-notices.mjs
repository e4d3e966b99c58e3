// Writes the names, versions and licence texts of the packages whose code is in the bundles. Most licences demand that a copy
// of the code comes with its licence text.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const LINE = '='.repeat(80);
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-]|$)/i;
/** Matches a README from its licence heading to its end. */
const LICENCE_SECTION = /^#+ *licen[cs]e\b[^]*$/im;
const PACKAGE = /^(.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** Data in the bundles that are from other projects, with the files of their licences. */
const DATA = { 'a2a-server/models/known-models.json': 'a2a-server/models/known-models.licence.txt' };

/**
 * @param inputs the paths of the bundled files, as in esbuild's metafile
 * @returns the text, ordered by name
 */
export async function thirdPartyNotices(inputs) {
  const directories = new Set(
    inputs.flatMap((path) => PACKAGE.exec(path.slice(path.indexOf(':') + 1))?.[0] ?? []),
  );
  const notices = await Promise.all([...directories].map(notice));
  const byName = new Map(notices.map((each) => [`${each.name} ${each.version}`, each]));
  const sorted = [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const data = await Promise.all(
    Object.entries(DATA)
      .filter(([file]) => inputs.includes(file))
      .map(async ([file, licence]) => `${LINE}\nThe data of ${file}\n\n${await readFile(licence, 'utf8')}`),
  );
  return [
    'The programs in this directory contain code of these packages.\n',
    ...sorted.map(([name, { license, texts }]) => [`${LINE}\n${name} (${license})\n`, ...texts].join('\n')),
    ...data,
  ].join('\n');
}

async function notice(directory) {
  const { name, version, license } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'));
  const all = (await readdir(directory)).toSorted();
  const read = (file) => readFile(join(directory, file), 'utf8');
  const texts = await Promise.all(all.filter((file) => LICENCE_FILE.test(file)).map(read));
  if (texts.length > 0) return { name, version, license, texts };
  // Some packages have the text in their README alone. Packages under Apache-2.0 all have the same text.
  const readme = all.find((file) => /^readme\b/i.test(file));
  const section = readme === undefined ? undefined : LICENCE_SECTION.exec(await read(readme))?.[0];
  if (section?.includes('Permission is hereby granted')) return { name, version, license, texts: [section] };
  if (license === 'Apache-2.0') return { name, version, license, texts: [await readFile('LICENSE', 'utf8')] };
  return { name, version, license, texts: ['The package contains no licence text.\n'] };
}
