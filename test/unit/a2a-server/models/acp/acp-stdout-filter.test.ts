import { describe, expect, it } from '@jest/globals';
import { AcpStdoutFilter } from '../../../../../a2a-server/models/acp/acp-stdout-filter.ts';

/** Sends the text in pieces of this size. Returns the messages that pass, and the other lines. */
async function through(text: string, piece: number): Promise<{ passed: string; otherOutput: string }> {
  const lines = new AcpStdoutFilter();
  let passed = '';
  lines.setEncoding('utf8').on('data', (chunk: string) => (passed += chunk));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += piece) lines.write(bytes.subarray(at, at + piece));
  await new Promise<void>((resolve, reject) => {
    lines.on('end', resolve).on('error', reject);
    lines.end();
  });
  return { passed, otherOutput: lines.otherOutput };
}

describe('the output lines of an ACP agent', () => {
  it.each([1, 2, 7, 1000])(
    'messages are delivered, and other lines are collected separately, in pieces of %d bytes',
    async (piece) => {
      const text = 'Welcome ✓\n{"a":1}\n\n  {"b":"{\\n"}\r\n[1]\n{"c":';
      expect(await through(text, piece)).toEqual({
        passed: '{"a":1}\n{"b":"{\\n"}\r\n{"c":',
        otherOutput: 'Welcome ✓\n[1]',
      });
    },
  );

  it('the read fails if no line is a message', async () => {
    await expect(through('no message\n'.repeat(200_000), 65_536)).rejects.toThrow('was not ACP');
  });
});
