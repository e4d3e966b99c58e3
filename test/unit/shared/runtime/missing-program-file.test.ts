import { expect, test } from '@jest/globals';
import { toolFailureResult } from '../../../../bridge/mcp/tool/answer-tool-call.ts';
import { isProgramFileMissing } from '../../../../shared/runtime/missing-program-file.ts';

const failure = (code: string, path?: string): Error =>
  Object.assign(new Error(`${code}: it failed`), { code, ...(path !== undefined && { path }) });

test.each([
  [failure('ENOENT', '/lib/node_modules/mcp-a2a-bridge/dist/open-bridge-ZYQLNX62.js'), true],
  [failure('ERR_MODULE_NOT_FOUND'), true],
  [failure('MODULE_NOT_FOUND'), true],
  [failure('ENOENT', '/project/main.js'), false],
  [failure('EACCES', '/dist/open-bridge-ZYQLNX62.js'), false],
  [new Error('ENOENT'), false],
  ['ENOENT', false],
])('a file of the program is missing: %p is %p', (error, missing) => {
  expect(isProgramFileMissing(error)).toBe(missing);
});

test('B4 after an upgrade of a running bridge, a tool call says what to do, because a repeated call would fail too', () => {
  const result = toolFailureResult(failure('ENOENT', '/dist/open-bridge-ZYQLNX62.js'), {
    prefix: '',
    name: 'delegate_task_to_assistant',
    log: undefined,
  });
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/replaced or deleted while it ran.*Restart the bridge/) }],
  });
});
