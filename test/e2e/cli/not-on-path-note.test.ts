/** Tests that a person without a command `mcp-a2a-bridge` is told what to type. */
import { expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli, cliAtTerminal, PROGRAM } from './support/cli.ts';

const onLinux = process.platform === 'linux' ? it : it.skip;

onLinux('at a terminal, a note below a hint has a command that works', async () => {
  const home = await temporaryDirectory();
  const args = ['logs', '--state-dir', home];
  const { stdout } = await cliAtTerminal(args, { home, keys: '', env: { NO_COLOR: '1' } });
  expect(stdout).toContain('"mcp-a2a-bridge server start" starts one');
  const [, command = ''] = /^Here, mcp-a2a-bridge is: (.+)$/m.exec(stdout) ?? [];
  expect(command.trim()).toBe(`node ${PROGRAM} --state-dir ${home}`);
  const { stdout: help } = await promisify(execFile)('sh', ['-c', `${command.trim()} server --help`]);
  expect(help).toContain('start');
  // A script gets no note.
  expect((await cli(args, { home })).stderr).not.toContain('Here,');
});

onLinux('at a terminal, the note is also below a usage error', async () => {
  const home = await temporaryDirectory();
  const { stdout } = await cliAtTerminal(['show'], { home, keys: '' });
  expect(stdout).toMatch(/--help shows how to use it\)\s+Here, mcp-a2a-bridge is: node /);
});
