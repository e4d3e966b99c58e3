// Writes the names, versions and licence texts of the packages whose code is in the bundles. Most licences demand that a copy
// of the code comes with its licence text.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-]|$)/i;
const PACKAGE = /^(.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//;

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
  return [
    'The programs in this directory contain code of these packages.\n',
    ...sorted.map(([name, { license, texts }]) =>
      [`${'='.repeat(80)}\n${name} (${license})\n`, ...texts].join('\n'),
    ),
  ].join('\n');
}

async function notice(directory) {
  const { name, version, license } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'));
  const files = (await readdir(directory)).filter((file) => LICENCE_FILE.test(file)).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
  return {
    name,
    version,
    license,
    texts: texts.length > 0 ? texts : ['The package contains no licence text.\n'],
  };
}
