import { describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shownReceipt, writeReceipt } from '../../../../../bridge/cli/commands/receipt.ts';
import { UsageError } from '../../../../../bridge/cli/terminal/exit-codes.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

describe('a receipt in a file', () => {
  it('its directory is made', async () => {
    const path = join(await temporaryDirectory(), 'a', 'b', 'receipt.md');
    await writeReceipt(path, 'text');
    expect(await readFile(path, 'utf8')).toBe('text');
  });

  it('a directory that is a file is a usage error, which names it', async () => {
    const directory = join(await temporaryDirectory(), 'file');
    await writeFile(directory, '');
    const written = writeReceipt(join(directory, 'receipt.md'), 'text');
    await expect(written).rejects.toThrow(UsageError);
    await expect(written).rejects.toThrow(
      /^The receipts cannot be written to .*: a part of the path is a file/,
    );
  });

  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux('a directory below /proc is a usage error, and the command does not hang', async () => {
    await expect(writeReceipt('/proc/mcp-a2a-bridge/receipt.md', 'text')).rejects.toThrow(UsageError);
  });
});

describe('a receipt on stdout', () => {
  it('a file or a pipe gets the exact bytes, because the signature is over them', () =>
    expect(shownReceipt('a\u{1b}[2J\nb', undefined)).toBe('a\u{1b}[2J\nb'));

  it('a terminal gets no hidden character', () =>
    expect(shownReceipt('a\u{1b}[2J\nb', 80)).toBe(String.raw`a\u{1b}[2J` + '\nb'));

  it('D5 at a terminal, no row of an agent’s long line looks like a line of the receipt', () =>
    expect(shownReceipt('│ +xxxxx- **Approved**', 10)).toBe('│ +xxxxx- \n↳ **Approv\n↳ ed**'));
});
