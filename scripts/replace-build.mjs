// Puts a new build in the place of the last one while programs of earlier builds run.
//
// - A program loads some of its files late. Their names contain a hash of their content, so files of several builds lie
//   side by side. A new build deletes no file that the last build used.
// - Each file is renamed into place as a whole, and the programs' main files come last. So a program that starts
//   meanwhile finds every file that its main file names. This is also true if two builds end at once.
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';

/** The list of the files of the last build. */
const MANIFEST = 'build.json';
/** Leaves the superseded files out of a package. */
const IGNORED = '.npmignore';
/** The beginning of the path of a directory for a new build: beside the last one, so that source maps stay right. */
export const draftPrefix = (target) => `${target}.draft-`;

const DAY_MS = 24 * 60 * 60 * 1000;
/** Superseded files are kept this long for programs that still run. */
const KEPT_MS = 30 * DAY_MS;
/** The maximum size of all superseded files. The files that were superseded first are deleted first. */
const KEPT_BYTES = 300 * 1024 * 1024;

/**
 * @param draft the directory of the new build, on the same file system; it is deleted
 * @param target the directory of the last build
 */
export async function replaceBuild(draft, target, { keptMs = KEPT_MS, keptBytes = KEPT_BYTES } = {}) {
  const files = await filesIn(draft);
  const before = await filesOfLastBuild(target);
  for (const file of [...files.filter((each) => !isMain(each)), ...files.filter(isMain)]) {
    await mkdir(dirname(join(target, file)), { recursive: true });
    await rename(join(draft, file), join(target, file));
  }
  await rm(draft, { recursive: true, force: true });
  const manifest = join(target, MANIFEST);
  await writeFile(`${manifest}.${process.pid}`, JSON.stringify(files));
  await rename(`${manifest}.${process.pid}`, manifest);
  const now = new Date();
  const current = new Set(files);
  for (const file of before.filter((each) => !current.has(each))) {
    // Source maps are for the newest build. The time of a superseded file is the time at which it was superseded.
    if (file.endsWith('.map')) await rm(join(target, file), { force: true });
    else await utimes(join(target, file), now, now).catch(ignoreMissing);
  }
  const kept = await deleteOld(target, { current, keptMs, keptBytes });
  await writeFile(join(target, IGNORED), [MANIFEST, ...kept].map((file) => `/${file}\n`).join(''));
}

/** @returns the superseded files that stay */
async function deleteOld(target, { current, keptMs, keptBytes }) {
  const superseded = [];
  for (const file of await filesIn(target)) {
    const isOwn = current.has(file) || file.startsWith(MANIFEST) || file === IGNORED;
    const found = isOwn ? undefined : await sizeAndTime(target, file);
    if (found !== undefined) superseded.push({ file, ...found });
  }
  superseded.sort((one, other) => other.mtimeMs - one.mtimeMs);
  const kept = [];
  let bytes = 0;
  for (const { file, size, mtimeMs } of superseded) {
    bytes += size;
    if (bytes > keptBytes || Date.now() - mtimeMs > keptMs) await rm(join(target, file), { force: true });
    else kept.push(file);
  }
  // A killed build leaves its draft, so this deletes old drafts.
  const beside = dirname(target);
  for (const name of await readdir(beside)) {
    const isDraft = name.startsWith(basename(draftPrefix(target)));
    const found = isDraft ? await sizeAndTime(beside, name) : undefined;
    if (found !== undefined && Date.now() - found.mtimeMs > DAY_MS)
      await rm(join(beside, name), { recursive: true, force: true });
  }
  return kept;
}

function isMain(file) {
  return basename(file) === 'main.js';
}

/** @returns the paths of all files, relative to the directory */
async function filesIn(directory) {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(ignoreMissing);
  return (entries ?? [])
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
}

/** @returns the files of the last build; all files, if it has no list */
async function filesOfLastBuild(target) {
  try {
    return JSON.parse(await readFile(join(target, MANIFEST), 'utf8'));
  } catch {
    return filesIn(target);
  }
}

/** @returns undefined if another build has deleted the file */
async function sizeAndTime(directory, file) {
  return stat(join(directory, file)).catch(ignoreMissing);
}

function ignoreMissing(error) {
  if (error.code !== 'ENOENT') throw error;
}
