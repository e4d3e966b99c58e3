import { describe, expect, test } from '@jest/globals';
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/server';
import {
  cancelCauseOf,
  cancelCauseText,
  effectOfCancelCause,
} from '../../../../../bridge/mcp/cancelled-calls/cancel-cause.ts';

describe('the cause of a cancelled call', () => {
  test.each([
    ['AbortError: user-cancel', 'person'],
    ['User requested cancellation', 'person'],
    ['User cancelled', 'person'],
    ['cancelled by the user', 'person'],
    ['McpError: MCP error -32001: Request timed out', 'timeout'],
    ['the user’s request timed out', 'timeout'],
    ['timeout', 'timeout'],
    ['deadline exceeded', 'timeout'],
    ['AbortError: This operation was aborted', 'unexplained'],
    ['the userland process aborted', 'unexplained'],
    ['', 'unexplained'],
    [new DOMException('This operation was aborted', 'AbortError'), 'unexplained'],
    [undefined, 'unexplained'],
    [new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed'), 'client-gone'],
  ])('R48 the reason %p counts as: %s', (reason, name) => {
    expect(cancelCauseOf(reason).name).toBe(name);
  });

  test('R48 only a person’s stop cancels the task, and only if the setting allows that', () => {
    const names = ['person', 'timeout', 'client-gone', 'unexplained'] as const;
    const effects = (setting: 'detach' | 'cancel') =>
      names.map((name) => effectOfCancelCause({ name, words: '' }, setting));
    expect(effects('detach')).toEqual(['detach', 'detach', 'detach', 'detach']);
    expect(effects('cancel')).toEqual(['cancel', 'detach', 'detach', 'detach']);
  });

  test('the cause contains the client’s own text, on one line and with a limited length', () => {
    expect(cancelCauseText(cancelCauseOf('AbortError: user-cancel'))).toBe(
      'the person stopped it ("AbortError: user-cancel")',
    );
    const words = cancelCauseText(cancelCauseOf(`line one\nline two ${'x'.repeat(10_000)}`));
    expect(words).not.toContain('\n');
    expect(words.length).toBeLessThan(300);
  });
});
