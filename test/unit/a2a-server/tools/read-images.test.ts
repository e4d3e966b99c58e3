/** Tests read-file on images and PDFs. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileTool } from '../../../../a2a-server/tools/builtin/read-file.ts';
import { GIF, PDF, PNG } from '../../../support/sample-files.ts';
import { toolInWorkspace, type ToolInWorkspace } from './tool-in-workspace.ts';

let at: ToolInWorkspace;
beforeEach(async () => {
  at = await toolInWorkspace();
});
const put = (name: string, bytes: Buffer): Promise<void> => writeFile(join(at.root, name), bytes);
const read = (path: string) => at.run(readFileTool, { path });

describe('read-file for images', () => {
  it('read-file returns an image or a PDF as a file, and detects the type by its bytes, not by its name', async () => {
    await put('dot.txt', PNG);
    expect(await read('dot.txt')).toEqual({
      text: '[file dot.txt, image/png, 70 bytes]',
      summary: 'read dot.txt (image/png, 70 bytes)',
      files: [{ bytes: PNG, mediaType: 'image/png', name: 'dot.txt' }],
    });
    await put('a.pdf', PDF);
    await put('b', GIF);
    await put('c.jpg', Buffer.from([0xff, 0xd8, 0xff, 0xe0]));
    await put('d.webp', Buffer.from('RIFF....WEBPVP8 '));
    expect(await read('a.pdf')).toMatchObject({ files: [{ mediaType: 'application/pdf' }] });
    expect(await read('b')).toMatchObject({ files: [{ mediaType: 'image/gif' }] });
    expect(await read('c.jpg')).toMatchObject({ files: [{ mediaType: 'image/jpeg' }] });
    expect(await read('d.webp')).toMatchObject({ files: [{ mediaType: 'image/webp' }] });
  });

  it('read-file returns the text of a text file with the name of an image', async () => {
    await put('a.png', Buffer.from('no image\n'));
    expect(await read('a.png')).toEqual({ text: 'no image\n', summary: 'read a.png (1 line of 1)' });
  });

  it('X3 read-file refuses an image that is too large for a model', async () => {
    await put('big.png', Buffer.concat([PNG, Buffer.alloc(4_000_000)]));
    await expect(read('big.png')).rejects.toMatchObject({
      reason: 'TOO_LARGE',
      message: expect.stringContaining('at most 3932160'),
    });
  });
});
