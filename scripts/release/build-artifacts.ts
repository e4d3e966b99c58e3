/**
 * Builds the files of a release from this checkout: the package, its bill of materials, the notes, checksums, a signature.
 *
 * `node scripts/run.mjs scripts/release/build-artifacts.ts <directory>`, after `npm ci`. It publishes nothing.
 * `RELEASE_SSH_KEY` names the file of the SSH key that signs the checksums. Without it they are not signed.
 */
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { licenceOf, shippedMaterials } from './bill-of-materials.ts';
import { notesOf } from './changelog.ts';
import { packagesOfNotices, packagesWithoutText, problemsOfLicences } from './licences.ts';
import { pack } from './pack.ts';
import { outputOf, runVisibly } from './run-command.ts';

const [given] = process.argv.slice(2);
if (given === undefined) throw new Error('Usage: build-artifacts.ts <directory>');
const directory = resolve(given);
await rm(directory, { recursive: true, force: true });
await mkdir(directory, { recursive: true });

const { name, version, dependencies } = z
  .object({ name: z.string(), version: z.string(), dependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(await readFile('package.json', 'utf8')));
const notices = await readFile('dist/THIRD_PARTY_NOTICES.txt', 'utf8');
const materials = shippedMaterials(await listMaterials(), {
  dependencies: Object.keys(dependencies),
  bundled: packagesOfNotices(notices),
});

checkLicences();
const tarball = await pack(directory);
await runVisibly(process.execPath, ['scripts/run.mjs', 'scripts/release/check-package.ts', tarball]);
const bill = await writeMaterials();
await writeNotes();
await writeSums([tarball, bill]);

/** Reads the lock file, because it has the native libraries of all platforms. */
async function listMaterials(): Promise<unknown> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  return JSON.parse(await outputOf('npm', args));
}

function checkLicences(): void {
  const shipped = materials.components.map((each) => ({ ...each, licence: licenceOf(each) }));
  const problems = [
    ...problemsOfLicences(shipped),
    ...packagesWithoutText(notices).map((each) => `${each} has no licence text.`),
  ];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  done(`all ${shipped.length} packages that users get have an accepted licence`);
}

/** @returns the path of the bill of materials */
async function writeMaterials(): Promise<string> {
  const text = JSON.stringify(materials, undefined, 2);
  const errors = await new Validation.JsonStrictValidator(Spec.Version.v1dot5).validate(text);
  if (errors !== null)
    throw new Error(`The bill of materials is not CycloneDX 1.5: ${JSON.stringify(errors)}`);
  const path = join(directory, `${name}-${version}.cdx.json`);
  await writeFile(path, text);
  done(`${basename(path)} is valid CycloneDX 1.5`);
  return path;
}

async function writeNotes(): Promise<void> {
  const notes = notesOf(await readFile('CHANGELOG.md', 'utf8'), version);
  if (notes === undefined) throw new Error(`CHANGELOG.md has no section for ${version}.`);
  await writeFile(join(directory, 'notes.md'), `${notes}\n`);
}

async function writeSums(files: readonly string[]): Promise<void> {
  const lines = await Promise.all(
    files.map(async (file) => {
      const digest = createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
      return `${digest}  ${basename(file)}\n`;
    }),
  );
  const sums = join(directory, 'SHA256SUMS');
  await writeFile(sums, lines.join(''));
  done(lines.join('').trim());
  const key = process.env['RELEASE_SSH_KEY'];
  if (key === undefined) return done('SHA256SUMS is not signed: RELEASE_SSH_KEY names no key');
  await runVisibly('ssh-keygen', ['-Y', 'sign', '-n', 'file', '-f', key, sums]);
  done('SHA256SUMS.sig is the signature of SHA256SUMS');
}

function done(what: string): void {
  console.log(`✓ ${what}`);
}
