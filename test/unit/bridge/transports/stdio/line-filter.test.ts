import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { McpLineError } from '../../../../../bridge/transports/stdio/check-line.ts';
import { McpLineFilter } from '../../../../../bridge/transports/stdio/line-filter.ts';

const GOOD = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: { progressToken: 0 } } };

/** Sends these pieces to stdin. Returns the messages that pass, and the errors. */
async function through(
  pieces: readonly (string | Buffer)[],
  limit?: number,
): Promise<{ passed: string; refused: McpLineError[] }> {
  const refused: McpLineError[] = [];
  const gate = new McpLineFilter((refusal) => refused.push(refusal), limit);
  const passed = await text(Readable.from(pieces.map((piece) => Buffer.from(piece))).pipe(gate));
  return { passed, refused };
}

describe('the check of each line at stdin', () => {
  test('the check passes messages unchanged, for every split of their bytes', async () => {
    const lines = [GOOD, { jsonrpc: '2.0', method: 'x' }, { jsonrpc: '2.0', id: 'é', result: {} }]
      .map((message) => `${JSON.stringify(message)}\n`)
      .join('');
    const bytes = Buffer.from(lines);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 6 }), async (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(await through(pieces)).toEqual({ passed: lines, refused: [] });
      }),
    );
  });

  test.each<[string, string, { code: number; id?: string | number }]>([
    ['not JSON', '{"jsonrpc":"2.0","id":1,', { code: -32_700 }],
    ['nothing of JSON-RPC', '{"a":1}', { code: -32_600 }],
    ['another version', '{"jsonrpc":"1.0","id":7,"method":"ping"}', { id: 7, code: -32_600 }],
    [
      'parameters that are none',
      '{"jsonrpc":"2.0","id":"a","method":"ping","params":3}',
      { id: 'a', code: -32_600 },
    ],
  ])('B4 a line that is %s gets a typed error, with the line’s id if it has one', async (_, line, answer) => {
    const { passed, refused } = await through([`${line}\n${JSON.stringify(GOOD)}\n`]);
    const { code, ...id } = answer;
    expect(refused).toEqual([
      { jsonrpc: '2.0', ...id, error: { code, message: expect.stringMatching(/Nothing was done/) } },
    ]);
    expect(passed).toBe(`${JSON.stringify(GOOD)}\n`);
  });

  test('the error names the fault, and a batch is not split', async () => {
    const { refused } = await through([
      `${JSON.stringify({ ...GOOD, params: { _meta: { progressToken: {} } } })}\n[${JSON.stringify(GOOD)}]\n`,
    ]);
    expect(refused.map(({ error }) => error.message)).toEqual([
      expect.stringContaining('params._meta.progressToken'),
      expect.stringContaining('no batches'),
    ]);
  });

  test('empty lines are ignored', async () => {
    expect(await through(['\n \r\n\n'])).toMatchObject({ refused: [] });
  });

  test('X3 a line beyond the limit is refused, and the next line passes', async () => {
    const long = Buffer.alloc(1_000, 'x');
    const { passed, refused } = await through([long, long, '\n', `${JSON.stringify(GOOD)}\n`], 1_500);
    expect(refused).toEqual([expect.objectContaining({ error: expect.objectContaining({ code: -32_600 }) })]);
    expect(passed).toBe(`${JSON.stringify(GOOD)}\n`);
  });
});
