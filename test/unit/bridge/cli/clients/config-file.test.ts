import { describe, expect, it } from '@jest/globals';
import { lstat, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readEditableConfig, writeConfig } from '../../../../../bridge/cli/clients/config-file.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

describe('the configuration file of a client', () => {
  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux('a file below /proc is refused, and the command does not hang', async () => {
    const file = await readEditableConfig('/proc/mcp-a2a-bridge/config.json');
    await expect(writeConfig(file, '{}', { fresh: 0o600 })).rejects.toMatchObject({
      reason: 'CONFIGURATION',
    });
  });

  it('a link to a file stays a link, and the file gets the text', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'target'), '{}');
    await symlink('target', join(directory, 'link'));
    await writeConfig(await readEditableConfig(join(directory, 'link')), '{"a": 1}', { fresh: 0o600 });
    expect((await lstat(join(directory, 'link'))).isSymbolicLink()).toBe(true);
    expect(await readFile(join(directory, 'target'), 'utf8')).toBe('{"a": 1}');
  });

  it('a link to a file that does not exist is refused, because a write would replace the link', async () => {
    const directory = await temporaryDirectory();
    await symlink('nowhere', join(directory, 'link'));
    await expect(readEditableConfig(join(directory, 'link'))).rejects.toThrow(
      'it is a link to a file that does not exist',
    );
    expect(await readdir(directory)).toEqual(['link']);
  });

  it('a file that is not UTF-8 is refused, because a write would change its other letters', async () => {
    const path = join(await temporaryDirectory(), 'settings.json');
    await writeFile(path, Buffer.from('{"name": "J\u{fc}rgen"}', 'latin1'));
    await expect(readEditableConfig(path)).rejects.toThrow('it is not UTF-8');
  });

  it.each([[''], ['{}']])(
    'of several commands that change %j at once, one writes, and the others say so',
    async (text) => {
      const directory = await temporaryDirectory();
      const path = join(directory, 'settings.json');
      if (text !== '') await writeFile(path, text);
      const read = await Promise.all(Array.from({ length: 6 }, () => readEditableConfig(path)));
      const ends = await Promise.allSettled(
        read.map((file, index) => writeConfig(file, `{"writer": ${index}}`, { fresh: 0o640 })),
      );
      const written = ends.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
      expect(await readFile(path, 'utf8')).toBe(`{"writer": ${written.join()}}`);
      const refused = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []));
      expect(refused).toEqual(Array(5).fill(expect.stringContaining('it has changed meanwhile')));
      // Only the command that writes makes a backup.
      expect(await readdir(directory)).toHaveLength(text === '' ? 1 : 2);
      if (text === '') expect((await lstat(path)).mode & 0o777).toBe(0o640);
    },
  );

  it('a byte order mark is part of the text', async () => {
    const path = join(await temporaryDirectory(), 'settings.json');
    await writeFile(path, '\u{feff}{}');
    expect((await readEditableConfig(path)).text).toBe('\u{feff}{}');
  });

  it('a directory is refused', async () => {
    await expect(readEditableConfig(await temporaryDirectory())).rejects.toMatchObject({
      reason: 'CONFIGURATION',
    });
  });
});
