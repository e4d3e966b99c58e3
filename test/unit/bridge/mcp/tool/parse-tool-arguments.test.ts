import { describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { parseToolArguments } from '../../../../../bridge/mcp/tool/parse-tool-arguments.ts';
import { decideTool } from '../../../../../bridge/mcp/tools/decide.ts';
import { delegateTaskTool } from '../../../../../bridge/mcp/tools/delegate-task.ts';

const delegating = (given: unknown): z.ZodSafeParseResult<object> =>
  parseToolArguments(delegateTaskTool.declaration.input, given);
const deciding = (given: unknown): z.ZodSafeParseResult<object> =>
  parseToolArguments(decideTool.declaration.input, given);

describe('the arguments of a tool call', () => {
  test.each([null, ''])('%j in an optional argument counts as missing, if the schema refuses it', (blank) => {
    const unused = { agent: blank, sessionId: blank, workspace: blank, waitSeconds: null };
    const { data } = delegating({ task: 'Work', ...unused });
    expect(data).toEqual({ ...delegating({ task: 'Work' }).data });
  });

  test('null in a decision of a list counts as missing, too', () => {
    const decision = { decision: 'approve', callId: 'c', shown: 's' };
    const given = { sessionId: 'x', decisions: [{ ...decision, reason: null, editedInput: null }] };
    expect(deciding(given).data).toEqual({ sessionId: 'x', decisions: [decision] });
  });

  test('D1 a decision without a word stays an error', () => {
    const listed = { callId: 'c', shown: 's' };
    expect(deciding({ sessionId: 'x', decisions: [{ ...listed, decision: null }] }).success).toBe(false);
  });

  test('an empty text that the schema accepts is kept', () => {
    const given = { sessionId: 'x', decision: 'edit', callId: 'c', shown: 's', editedContent: '' };
    expect(deciding(given).data).toEqual(given);
  });

  test('the error is about the arguments as the client sent them', () => {
    const { error } = delegating({ task: '', agent: null });
    expect(error?.issues.map(({ path, message }) => [path.join('.'), message])).toEqual([
      ['task', 'it is empty'],
      ['agent', 'it is not text'],
    ]);
  });
});
