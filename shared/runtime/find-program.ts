/** Finds programs in PATH. */
import { access, constants, stat } from 'node:fs/promises';
import { posix, win32 } from 'node:path';
import type { Environment } from './environment.ts';

interface ProgramPlaces {
  env: Environment;
  platform: NodeJS.Platform;
}

/** The path of the C library if PATH is not set (POSIX `confstr(_CS_PATH)`). */
const DEFAULT_PATH = '/usr/bin:/bin';
/** The endings of program files on Windows if PATHEXT is not set. */
const DEFAULT_PATHEXT = '.COM;.EXE;.BAT;.CMD';

/** Returns true if a shell of this user would find the program. If `program` is a path, only that path is checked. */
export async function programExists(program: string, places: ProgramPlaces): Promise<boolean> {
  for (const path of programPaths(program, places)) if (await isExecutable(path)) return true;
  return false;
}

/** Returns the paths where a shell looks for the program, in order. On Windows, the name may lack its ending. Pure. */
export function programPaths(program: string, { env, platform }: ProgramPlaces): string[] {
  if (platform !== 'win32') {
    if (program.includes('/')) return [program];
    return directoriesIn(env['PATH'] ?? DEFAULT_PATH, ':').map((directory) => posix.join(directory, program));
  }
  const endings = (windowsVariable(env, 'PATHEXT') ?? DEFAULT_PATHEXT)
    .split(';')
    .filter((each) => each !== '');
  const hasEnding = endings.some((each) => program.toLowerCase().endsWith(each.toLowerCase()));
  const names = [...(hasEnding ? [program] : []), ...endings.map((each) => program + each)];
  if (/[\\/]/.test(program)) return names;
  return directoriesIn(windowsVariable(env, 'PATH') ?? '', ';').flatMap((directory) =>
    names.map((name) => win32.join(directory, name)),
  );
}

function directoriesIn(path: string, delimiter: string): string[] {
  return path.split(delimiter).filter((directory) => directory !== '');
}

/**
 * Returns the value of a variable on Windows, where the case of its name has no meaning. Windows often writes `Path`.
 */
function windowsVariable(env: ProgramPlaces['env'], name: string): string | undefined {
  const key = Object.keys(env).find((each) => each.toUpperCase() === name);
  return key === undefined ? undefined : env[key];
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
