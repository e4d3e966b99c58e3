/**
 * Makes a release: checks, version, changelog, tag, and the files to publish. It publishes nothing, and pushes nothing.
 *
 * `npm run release -- <version> [--dry-run [--skip-verify]]`
 *
 * The release is made in a clone, from what is committed. This checkout changes only after everything has passed, and with
 * `--dry-run` not at all.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import { describePackage } from '../client-packages/package-description.ts';
import { releaseChangelog } from './changelog.ts';
import { outputOf, runVisibly } from './run-command.ts';
import { problemOfVersion, tagOf } from './version.ts';

const BRANCH = 'main';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'dry-run': { type: 'boolean', default: false },
    'skip-verify': { type: 'boolean', default: false },
  },
});
const [version] = positionals;
const dryRun = values['dry-run'];
if (version === undefined || positionals.length > 1 || (values['skip-verify'] && !dryRun)) {
  process.stderr.write('Usage: npm run release -- <version> [--dry-run [--skip-verify]]\n');
  process.exit(2);
}

const tag = tagOf(version);
const place = await mkdtemp(join(tmpdir(), 'release-'));
const clone = join(place, 'mcp-a2a-bridge');
try {
  step('What is committed can be released');
  const { changelog, canBePublished } = await checkedRelease();

  step(`A clone has version ${version}`);
  await outputOf('git', ['clone', '--quiet', '--no-hardlinks', resolve('.'), clone]);
  await inClone('npm', [
    'version',
    '--no-git-tag-version',
    '--allow-same-version',
    '--ignore-scripts',
    version,
  ]);
  await writeFile(join(clone, 'CHANGELOG.md'), changelog);
  await inClone('npm', ['ci', '--no-audit', '--no-fund']);
  if (canBePublished) await inClone('npm', ['run', '--silent', 'published', '--', version]);
  else say('The documents still name the clone: see the reasons above.');
  await inClone('git', ['commit', '--quiet', '--all', '--message', `Release ${version}`]);

  step('npm run verify');
  if (values['skip-verify']) say('skipped');
  else await inClone('npm', ['run', 'verify']);

  step('The files of the release');
  const built = join(place, 'files');
  await inClone(process.execPath, ['scripts/run.mjs', 'scripts/release/build-artifacts.ts', built]);
  const files = join('release', tag);
  await rm(files, { recursive: true, force: true });
  await cp(built, files, { recursive: true });
  say(`They are in ${files}.`);

  step(`The commit and the tag ${tag} of this repository`);
  if (dryRun) say('skipped: a dry run changes no commit and no tag');
  else {
    await outputOf('git', ['fetch', '--quiet', clone, 'HEAD']);
    await runVisibly('git', ['merge', '--quiet', '--ff-only', 'FETCH_HEAD']);
    await runVisibly('git', ['tag', '--annotate', '--message', `Version ${version}`, tag]);
  }

  step('What you do now');
  say(`Look at ${files}. Then publish: git push --atomic origin ${BRANCH} ${tag}`);
  say(
    'The workflow "Release" builds the tag again, and waits until a person approves its environment "npm".',
  );
} catch (error) {
  process.stderr.write(`${errorMessageOf(error)}\n`);
  process.exitCode = 1;
} finally {
  await rm(place, { recursive: true, force: true, maxRetries: 5 });
}

/**
 * Returns CHANGELOG.md of the release, and whether package.json names the public repository. A dry run also works
 * without the repository.
 * @throws Error with each reason against the release
 */
async function checkedRelease(): Promise<{ changelog: string; canBePublished: boolean }> {
  const described = await readFile('package.json', 'utf8');
  const manifest = z.object({ version: z.string() }).parse(JSON.parse(described));
  const unpublishable = problemOf(() => describePackage(described, { release: true }));
  const tags = (await git('tag', '--list')).split('\n');
  const today = new Date().toISOString().slice(0, 10);
  const changelog = releaseChangelog(await readFile('CHANGELOG.md', 'utf8'), version ?? '', today);
  const branch = await git('branch', '--show-current');
  const reasons = [
    (await git('status', '--porcelain')) === ''
      ? undefined
      : 'The working tree has changes. Commit them first.',
    branch === BRANCH ? undefined : `The branch is "${branch}", and releases are made from "${BRANCH}".`,
    problemOfVersion(version ?? '', { package: manifest.version, tags }),
    changelog.type === 'refused' ? changelog.message : undefined,
    unpublishable,
  ].filter((reason) => reason !== undefined);
  // A dry run shows these reasons and continues, unless the changelog has no text for the release.
  if (reasons.length > 0 && (!dryRun || changelog.type === 'refused')) throw new Error(reasons.join('\n'));
  for (const reason of reasons) say(`✗ ${reason}`);
  return {
    changelog: changelog.type === 'released' ? changelog.text : '',
    canBePublished: unpublishable === undefined,
  };
}

function problemOf(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return errorMessageOf(error);
  }
}

async function git(...args: string[]): Promise<string> {
  return (await outputOf('git', args)).trim();
}

function inClone(command: string, args: readonly string[]): Promise<void> {
  return runVisibly(command, args, { cwd: clone });
}

function step(what: string): void {
  console.log(`\n== ${what}`);
}

function say(what: string): void {
  console.log(what);
}
