/** Runs bundled test files in this process: `node run-tests.js <limit in ms> <file …>`. The exit code is 1 when a test fails. */
import { pathToFileURL } from 'node:url';
import { runTests } from './harness.ts';

const [limit, ...files] = process.argv.slice(2);
try {
  for (const file of files) await import(pathToFileURL(file).href);
  await runTests(Number(limit));
  process.exit(0);
} catch (error) {
  process.stdout.write(error instanceof Error ? `${error.message}: ${String(error.cause)}` : String(error));
  process.exit(1);
}
