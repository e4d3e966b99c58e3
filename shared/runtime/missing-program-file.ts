/** Recognizes that a file of the running program is missing. An upgrade replaces the files while a program runs. */
import { errorCode } from './errors.ts';
import { fieldOf } from './record.ts';

/** Matches the path of a built module. The bundler puts a hash into the name, so each version has other names. */
const BUILT_MODULE = /-[A-Z0-9]{8}\.js$/;

/** Returns true if a module of this program could not be loaded, because its file is missing. */
export function isProgramFileMissing(error: unknown): boolean {
  const code = errorCode(error);
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') return true;
  return code === 'ENOENT' && BUILT_MODULE.test(String(fieldOf(error, 'path')));
}
