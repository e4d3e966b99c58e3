import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { decisionsMessage, requestMessage } from '../../../../../shared/client/a2a/message.ts';
import type { PendingAction } from '../../../../../shared/client/task-report.ts';
import { decisionsPart, taskSettings, TOOL_APPROVAL } from '../../../../../shared/protocol/tool-approval.ts';

const action: PendingAction = {
  callId: 'a',
  tool: 'write-file',
  title: 'Write a.md',
  input: {},
  sideEffect: 'files',
  reason: 'approval',
  preview: { type: 'url', url: 'u' },
  expiresAt: null,
  decisions: ['approve'],
  inputHash: 'hash-of-a',
};
const sent = z.object({
  message: z.object({
    parts: z.array(z.object({ data: z.unknown().optional() })),
    metadata: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** As it goes on the wire. */
function written(body: object): z.infer<typeof sent>['message'] {
  return sent.parse(JSON.parse(JSON.stringify(body))).message;
}

test('D2 each decision is bound to what was shown of its call, and reads as the protocol has it', () => {
  const body = decisionsMessage(
    [
      { callId: 'a', decision: 'approve', scope: 'tool' },
      { callId: 'not shown', decision: 'edit', content: 'x', reason: 'because' },
      { callId: 'asked', decision: 'answer', answer: ['red'] },
    ],
    [action],
    { messageId: 'm', taskId: 't', channel: 'page' },
  );
  expect(decisionsPart.parse(written(body).parts[0]?.data).decisions).toEqual([
    { callId: 'a', decision: 'approve', scope: 'tool', inputHash: 'hash-of-a' },
    { callId: 'not shown', decision: 'edit', scope: 'once', content: 'x', reason: 'because' },
    { callId: 'asked', decision: 'answer', scope: 'once', answer: ['red'] },
  ]);
});

test('what a task is started with reads as the protocol has it, and what is left out is not said', () => {
  const body = requestMessage({ text: 'x', autoExecute: true, model: undefined }, 'm');
  expect(taskSettings.parse(written(body).metadata?.[TOOL_APPROVAL])).toEqual({ autoExecute: true });
});
