import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { decisionsMessage, newTaskMessage } from '../../../../../shared/client/a2a/message.ts';
import {
  decisionsPartSchema,
  taskSettingsSchema,
  TOOL_APPROVAL_EXTENSION,
} from '../../../../../shared/protocol/tool-approval.ts';

const sent = z.object({
  message: z.object({
    parts: z.array(z.object({ data: z.unknown().optional() })),
    metadata: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** Returns the message after JSON encoding. */
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

test('the settings of a new task fit the protocol, and settings without a value are absent', () => {
  const body = newTaskMessage({ text: 'x', autoExecute: true, model: undefined }, 'm');
  expect(taskSettingsSchema.parse(written(body).metadata?.[TOOL_APPROVAL_EXTENSION])).toEqual({
    autoExecute: true,
  });
});

test('the files of a request follow its text, with their bytes in base64', () => {
  const content = Uint8Array.from({ length: 20_001 }, (_, index) => index % 256);
  const body = newTaskMessage({ text: 'x', files: [{ name: 'dot.png', content }] }, 'm');
  expect(JSON.parse(JSON.stringify(body))).toMatchObject({
    message: {
      parts: [{ text: 'x' }, { raw: Buffer.from(content).toString('base64'), filename: 'dot.png' }],
    },
  });
});
