import { describe, expect, test } from '@jest/globals';
import { fixInvalidParamsError } from '../../../../../bridge/transports/stdio/fix-invalid-params-error.ts';

const failed = (code: number, message: string) => ({
  jsonrpc: '2.0' as const,
  id: 1,
  error: { code, message },
});

describe('outgoing JSON-RPC errors', () => {
  test('B4 an error about parameters that a schema refused names the field and the reason', () => {
    const issues = JSON.stringify([
      { code: 'invalid_type', path: ['params', 'name'], message: 'expected string' },
    ]);
    expect(fixInvalidParamsError(failed(-32_603, issues))).toEqual(
      failed(-32_602, 'Invalid params: params.name: expected string'),
    );
  });

  test('B4 the words of zod become plain words, also after the name of the method', () => {
    const issues = JSON.stringify([
      {
        code: 'invalid_type',
        expected: 'string',
        path: ['params', 'name'],
        message: 'Invalid input: expected string, received number',
      },
      {
        code: 'invalid_type',
        expected: 'string',
        path: ['params', 'uri'],
        message: 'Invalid input: expected string, received undefined',
      },
      { code: 'of_a_later_zod', path: ['params', 'x'], message: 'Invalid thing' },
    ]);
    expect(fixInvalidParamsError(failed(-32_602, `Invalid tools/call request: ${issues}`))).toEqual(
      failed(
        -32_602,
        'Invalid params: params.name: it is not text; params.uri: it is missing, and must be text; params.x: Invalid thing',
      ),
    );
  });

  test.each([
    failed(-32_602, 'Tool x not found'),
    failed(-32_603, 'the disk is on fire'),
    failed(-32_603, '[1, 2]'),
    failed(-32_603, '[half'),
    failed(-32_601, '[{"path":[],"message":"x"}]'),
    { jsonrpc: '2.0' as const, id: 1, result: {} },
    { jsonrpc: '2.0' as const, method: 'notifications/progress' },
  ])('an error with any other message stays unchanged: %j', (message) => {
    expect(fixInvalidParamsError(message)).toBe(message);
  });
});
