/** Reads a file in a workspace that a bridge gave to an agent. Only for agents that use the files of this machine. */
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errorCode } from '../../shared/runtime/errors.ts';

const MAX_BYTES = 10 * 1024 * 1024;

/**
 * Reads a file. The agent chooses the path, and the model of the MCP client reads the text. So only files in the
 * workspaces are read, after symbolic links are resolved.
 * @param workspaces absolute paths on this machine
 * @returns '' if the file does not exist; undefined if it is outside of the workspaces, not a regular file, or larger
 * than 10 MiB
 */
export async function readFileNamedByAgent(
  path: string,
  workspaces: readonly string[],
): Promise<string | undefined> {
  const found = await Promise.all(workspaces.map((each) => realpath(each).catch(() => undefined)));
  const roots = found.filter((root) => root !== undefined);
  try {
    const place = await placeOf(path);
    return place !== undefined && isWithinOne(roots, place) ? await textAt(place) : undefined;
  } catch (error) {
    const absent = errorCode(error) === 'ENOENT' && isWithinOne([...roots, ...workspaces], resolve(path));
    return absent && roots.length > 0 ? '' : undefined;
  }
}

/** Resolves the symbolic links in the path. The file itself need not exist. */
async function placeOf(path: string): Promise<string | undefined> {
  if (!isAbsolute(path)) return undefined;
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return join(await realpath(dirname(path)), basename(path));
  }
}

async function textAt(place: string): Promise<string | undefined> {
  // All links were resolved before. A link at this place is new, so it is refused.
  const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const info = await file.stat();
    return info.isFile() && info.size <= MAX_BYTES ? await file.readFile('utf8') : undefined;
  } finally {
    await file.close();
  }
}

function isWithinOne(roots: readonly string[], place: string): boolean {
  return roots.some((root) => {
    const rest = relative(root, place);
    return rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
  });
}
