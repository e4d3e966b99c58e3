import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { decisionsMessage, requestMessage } from '../../../../../shared/client/a2a/message.ts';
import {
  decisionsPartSchema,
  taskSettingsSchema,
  TOOL_APPROVAL,
} from '../../../../../shared/protocol/tool-approval.ts';

const sent = z.object({
  message: z.object({
    parts: z.array(z.object({ data: z.unknown().optional() })),
    metadata: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** The message after JSON encoding. */
function written(body: object): z.infer<typeof sent>['message'] {
  return sent.parse(JSON.parse(JSON.stringify(body))).message;
}

test('D2 each decision keeps its code and fits the protocol', () => {
  const body = decisionsMessage(
    [
      { callId: 'a', shown: '3f9ac2d1', decision: 'approve', scope: 'tool' },
      { callId: 'b', shown: '0a1b2c3d', decision: 'edit', content: 'x', reason: 'because' },
      { callId: 'asked', shown: 'ffffffff', decision: 'answer', answer: ['red'] },
    ],
    { messageId: 'm', taskId: 't', channel: 'page' },
  );
  expect(decisionsPartSchema.parse(written(body).parts[0]?.data).decisions).toEqual([
    { callId: 'a', shown: '3f9ac2d1', decision: 'approve', scope: 'tool' },
    { callId: 'b', shown: '0a1b2c3d', decision: 'edit', scope: 'once', content: 'x', reason: 'because' },
    { callId: 'asked', shown: 'ffffffff', decision: 'answer', scope: 'once', answer: ['red'] },
  ]);
});

test('the settings of a new task fit the protocol, and unset ones are absent', () => {
  const body = requestMessage({ text: 'x', autoExecute: true, model: undefined }, 'm');
  expect(taskSettingsSchema.parse(written(body).metadata?.[TOOL_APPROVAL])).toEqual({ autoExecute: true });
});
