/** Tests the files of `deploy/`: systemd judges the unit, and each setting that a file names exists. */
import { describe, expect, it } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SERVER_SETTINGS } from '../../../a2a-server/startup/settings.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const run = promisify(execFile);
const directory = join(process.cwd(), 'deploy');
const read = (name: string): Promise<string> => readFile(join(directory, name), 'utf8');

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!hasSystemd) process.emitWarning('skipped: systemd-analyze is not installed');

describe('the files of deploy/', () => {
  it.each(['Dockerfile', 'compose.yaml', 'a2a-server.service'])(
    '%s names only settings that exist',
    async (name) => {
      const known = Object.values(SERVER_SETTINGS).map(({ env }) => env);
      const named = [...(await read(name)).matchAll(/\bA2A_SERVER_\w+/g)].map(([variable]) => variable);
      expect(named.length).toBeGreaterThan(0);
      expect(named.filter((variable) => !known.includes(variable))).toEqual([]);
    },
  );

  it('the container runs without root, and asks the server whether it is ready', async () => {
    const file = await read('Dockerfile');
    const last = file.slice(file.lastIndexOf('\nFROM '));
    expect(last).toMatch(/^USER 1000:1000$/m);
    expect(last).toMatch(/^HEALTHCHECK [^]*\/readyz/m);
  });

  (hasSystemd ? it : it.skip)('systemd accepts the unit, and rates its exposure as low', async () => {
    // systemd checks that the program exists. The package is not installed on this machine.
    const unit = join(await temporaryDirectory(), 'a2a-server.service');
    const text = await read('a2a-server.service');
    await writeFile(
      unit,
      text.replace('ExecStart=/usr/local/bin/a2a-server', `ExecStart=${process.execPath}`),
    );
    const { stdout, stderr } = await run('systemd-analyze', ['verify', unit]);
    expect(stdout + stderr).toBe('');
    // The exposure is a number from 0 (none) to 10, here times 10. An unrestricted service has 9.6.
    await run('systemd-analyze', ['security', '--offline=true', '--threshold=45', unit]);
  });
});
