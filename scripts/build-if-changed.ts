/** Builds the programs if a source is newer than the build. Jest runs this before the first test, and the demo at its start. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export default async function buildIfChanged(): Promise<void> {
  await promisify(execFile)(process.execPath, ['scripts/build.mjs', '--if-changed']);
}
