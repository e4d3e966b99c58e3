/** Builds what the tests run, if a source is newer. Jest runs this before the first test, and the demo at its start. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { buildTestBundles } from './build-test-bundles.ts';

export default async function buildIfChanged(): Promise<void> {
  await promisify(execFile)(process.execPath, ['scripts/build.mjs', '--if-changed']);
  await buildTestBundles();
}
