import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** The bridge's stdin and stdout belong to its client, so they are no terminal here either. */
const PRINT = `${process.execPath} scripts/run.mjs test/support/print-terminal-columns.ts </dev/null 2>&1 | cat`;

test('D5 the bridge reads the width of the terminal in which its client runs, although its stdin is a pipe', async () => {
  const { stdout } = await run('script', ['-qefc', `stty cols 60; ${PRINT}`, '/dev/null']);
  expect(stdout).toContain('width: 60');
  expect(stdout).toContain('more open files: 0');
});

test('without a terminal, and in a terminal that reports no width, the width is unknown', async () => {
  const { stdout: none } = await run('setsid', ['--wait', 'sh', '-c', PRINT]);
  expect(none).toContain('width: undefined');
  const { stdout: unsized } = await run('script', ['-qefc', `stty cols 0; ${PRINT}`, '/dev/null']);
  expect(unsized).toContain('width: undefined');
});
