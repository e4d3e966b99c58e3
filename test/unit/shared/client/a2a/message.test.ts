import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { decisionsMessage, requestMessage } from '../../../../../shared/client/a2a/message.ts';
import { decisionsPart, taskSettings, TOOL_APPROVAL } from '../../../../../shared/protocol/tool-approval.ts';

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

test('D2 each decision keeps the code it was made with, and reads as the protocol has it', () => {
  const body = decisionsMessage(
    [
      { callId: 'a', shown: '3f9ac2d1', decision: 'approve', scope: 'tool' },
      { callId: 'b', shown: '0a1b2c3d', decision: 'edit', content: 'x', reason: 'because' },
      { callId: 'asked', shown: 'ffffffff', decision: 'answer', answer: ['red'] },
    ],
    { messageId: 'm', taskId: 't', channel: 'page' },
  );
  expect(decisionsPart.parse(written(body).parts[0]?.data).decisions).toEqual([
    { callId: 'a', shown: '3f9ac2d1', decision: 'approve', scope: 'tool' },
    { callId: 'b', shown: '0a1b2c3d', decision: 'edit', scope: 'once', content: 'x', reason: 'because' },
    { callId: 'asked', shown: 'ffffffff', decision: 'answer', scope: 'once', answer: ['red'] },
  ]);
});

test('what a task is started with reads as the protocol has it, and what is left out is not said', () => {
  const body = requestMessage({ text: 'x', autoExecute: true, model: undefined }, 'm');
  expect(taskSettings.parse(written(body).metadata?.[TOOL_APPROVAL])).toEqual({ autoExecute: true });
});
