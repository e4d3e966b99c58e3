/**
 * Makes the documents of this checkout name the published package: `npm run published -- <version> [--out
 * <directory>]`.
 *
 * README.md and docs/ then name `npx -y mcp-a2a-bridge`, and the packages for MCP clients start the published version.
 * `--out` is the directory of these packages, by default `dist/client-packages`. The script publishes nothing, and
 * commits nothing.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { globSync } from 'tinyglobby';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import { describePackage } from '../client-packages/package-description.ts';
import { formatPage } from '../format-page.ts';
import { runVisibly } from '../release/run-command.ts';
import { publishedPage } from './published-page.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string', default: 'dist/client-packages' } },
});
const [version] = positionals;
if (version === undefined || positionals.length > 1) {
  process.stderr.write('Usage: npm run published -- <version> [--out <directory>]\n');
  process.exit(2);
}

try {
  const about = describePackage(await readFile('package.json', 'utf8'), { release: true });
  if (about.version !== version)
    throw new Error(
      `package.json has version ${about.version}. Run: npm version --no-git-tag-version ${version}`,
    );
  // Every page is changed in memory first, so that an unexpected text leaves all files as they are.
  const pages = await Promise.all(globSync(['README.md', 'docs/**/*.md']).toSorted().map(changedPage));
  for (const { page, before, after } of pages) {
    if (before === after) continue;
    await writeFile(page, after);
    process.stdout.write(`${page} names the published package.\n`);
  }
  const script = ['scripts/run.mjs', 'scripts/client-packages/write-packages.ts'];
  await runVisibly(process.execPath, [...script, '--release', '--out', values.out]);
} catch (error) {
  process.stderr.write(`${errorMessageOf(error)}\n`);
  process.exitCode = 1;
}

async function changedPage(page: string): Promise<{ page: string; before: string; after: string }> {
  const before = await readFile(page, 'utf8');
  const changed = publishedPage(page, before);
  // The changes make tables wider or narrower, so the page is formatted again.
  const after = changed === before ? before : await formatPage(page, changed);
  return { page, before, after };
}
