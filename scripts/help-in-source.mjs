// The help of a program is the comment at the beginning of its file.
import { readFile } from 'node:fs/promises';

/** See help-in-source.d.mts. */
export async function helpInSource(path) {
  const source = await readFile(path, 'utf8');
  if (/ from 'commander';/.test(source)) return undefined;
  const [comment] = /^\/\*\*[^]*?\*\/|^(?:#!.*\n)?(?:\/\/.*\n)+/.exec(source) ?? [];
  if (comment === undefined) return undefined;
  const lines = comment
    .split('\n')
    .map((line) => line.replace(/^(?:\/\*\*| \*\/| \*|\/\/|#!.*) ?/, '').replace(/ ?\*\/$/, ''));
  return `${lines.join('\n').trim()}\n`;
}
