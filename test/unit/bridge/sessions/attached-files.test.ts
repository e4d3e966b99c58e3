import { beforeEach, describe, expect, test } from '@jest/globals';
import { link, mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readAttachedFiles } from '../../../../bridge/sessions/attached-files.ts';
import { PNG } from '../../../support/sample-files.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

let own: string;
let other: string;
beforeEach(async () => {
  own = await realpath(await temporaryDirectory());
  other = await realpath(await temporaryDirectory());
  await writeFile(join(own, 'shot.png'), PNG);
  await writeFile(join(other, 'secret.txt'), 'secret');
});

const read = (paths: readonly string[], roots: readonly string[] = []) =>
  readAttachedFiles(paths, {
    directory: own,
    workspaces: { own, listed: [] },
    stateDirectory: join(own, 'state'),
    roots: () => Promise.resolve(roots),
  });

describe('the files that a call attaches', () => {
  test('the attached files have their content, their name, and the type that their bytes have', async () => {
    await mkdir(join(own, 'docs'));
    await writeFile(join(own, 'docs', 'a.png'), 'text after all\n');
    const [image, text] = await read(['shot.png', join(own, 'docs/a.png')]);
    expect(image).toMatchObject({ name: 'shot.png', mediaType: 'image/png', content: PNG });
    expect(text).toMatchObject({ name: 'a.png', mediaType: 'text/plain' });
  });

  test('an attached file may be in a directory of the client (MCP roots)', async () => {
    expect(await read([join(other, 'secret.txt')], [other])).toHaveLength(1);
  });

  test('X2 a file outside the workspaces cannot be attached: by a path, by `..`, or by a symbolic link', async () => {
    await symlink(join(other, 'secret.txt'), join(own, 'link.txt'));
    await symlink(other, join(own, 'directory'));
    for (const path of [join(other, 'secret.txt'), '../secret.txt', 'link.txt', 'directory/secret.txt'])
      await expect(read([path])).rejects.toMatchObject({
        reason: 'FORBIDDEN',
        message: expect.stringMatching(/is outside of .* Nothing was sent\./),
      });
  });

  test('X2 a file of the state directory cannot be attached, also not through a hard link', async () => {
    await mkdir(join(own, 'state', 'deep'), { recursive: true });
    await writeFile(join(own, 'state', 'token'), 'token');
    await writeFile(join(own, 'state', 'deep', 'file'), 'text');
    await link(join(own, 'state', 'token'), join(own, 'harmless.txt'));
    for (const path of ['state/token', 'state/deep/file', 'harmless.txt'])
      await expect(read([path])).rejects.toMatchObject({
        reason: 'FORBIDDEN',
        message: expect.stringContaining("bridge's own state"),
      });
  });

  test('X3 attached files must be regular files of known types, with 3 MB in total', async () => {
    await writeFile(join(own, 'a.zip'), Buffer.from('PK\u0003\u0004\0\0'));
    await writeFile(join(own, 'b.png'), Buffer.concat([PNG, Buffer.alloc(2_999_930)]));
    await expect(read(['missing.png'])).rejects.toMatchObject({ reason: 'MALFORMED' });
    await expect(read(['.'])).rejects.toMatchObject({ reason: 'MALFORMED' });
    await expect(read(['a.zip'])).rejects.toMatchObject({ reason: 'UNSUPPORTED_CONTENT' });
    expect(await read(['b.png'])).toHaveLength(1);
    await expect(read(['b.png', 'shot.png'])).rejects.toMatchObject({ reason: 'TOO_LARGE' });
  });
});
