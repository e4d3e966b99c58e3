/** Finds programs in PATH. */
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

interface ProgramPlaces {
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
}

/** Returns true if a shell of this user would find the program. If `program` is a path, only that path is checked. */
export async function programExists(program: string, { env, platform }: ProgramPlaces): Promise<boolean> {
  if (/[\\/]/.test(program)) return isExecutable(program);
  const endings = platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE;.CMD').split(';')] : [''];
  for (const directory of (env['PATH'] ?? '').split(delimiter))
    for (const ending of endings)
      if (directory !== '' && (await isExecutable(join(directory, program + ending)))) return true;
  return false;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
