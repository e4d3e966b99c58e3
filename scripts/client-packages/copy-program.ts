/** Copies the built program with its native library, so that a package needs nothing else. */
import { cp, link, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/** The build bundles all other packages. libsql finds its native library from its own directory. */
const PACKAGES = ['libsql', '@libsql'];

/**
 * Copies the program. Where the file system allows it, makes hard links instead, because several packages contain the
 * same files.
 * @throws Error if the program is not built
 */
export async function copyProgram(target: string): Promise<void> {
  const built = z.array(z.string()).parse(JSON.parse(await readFile('dist/build.json', 'utf8')));
  const files = built.filter((file) => !file.endsWith('.map') && !file.startsWith('client/'));
  const modules = (await Promise.all(PACKAGES.map((name) => filesBelow(join('node_modules', name))))).flat();
  for (const file of ['package.json', 'LICENSE', ...files.map((each) => join('dist', each)), ...modules])
    await copyFile(file, join(target, file));
}

async function filesBelow(directory: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(directory, { recursive: true })) {
    const path = join(directory, entry);
    if ((await stat(path)).isFile()) found.push(path);
  }
  return found;
}

async function copyFile(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await link(from, to).catch(() => cp(from, to));
}
