import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { SendMessageRequest } from '@a2a-js/sdk';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { AGENT_COMMAND_EXTENSION } from '../../../../../shared/protocol/agent-command.ts';
import {
  decisionsPartSchema,
  TOOL_APPROVAL_EXTENSION,
} from '../../../../../shared/protocol/tool-approval.ts';
import { PNG } from '../../../../support/sample-files.ts';
import { parseClientMessage } from '../../../../../a2a-server/http/wire/parse-client-message.ts';

function parse(message: object) {
  const request = SendMessageRequest.fromJSON({
    message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hi' }], ...message },
  });
  return parseClientMessage(request, { requester: { principal: 'local' }, speaksApproval: true });
}

const hash = (message: object): string => parse(message).bodyHash;

describe('a message as a command for the task', () => {
  test('the command contains the content, the task and the channel', () => {
    expect(
      parse({
        taskId: 'task-1',
        contextId: 'session-1',
        metadata: { [TOOL_APPROVAL_EXTENSION]: { autoExecute: true, workspace: '/w' }, other: 1 },
      }),
    ).toMatchObject({
      principal: 'local',
      channel: 'a2a',
      message: { messageId: 'm-1', parts: [{ type: 'text', text: 'hi' }] },
      taskId: 'task-1',
      sessionId: 'session-1',
      settings: { autoExecute: true, workspace: '/w' },
    });
  });

  test('the command omits unset fields', () => {
    const incoming = parse({});
    expect(incoming).not.toHaveProperty('taskId');
    expect(incoming).not.toHaveProperty('sessionId');
    expect(incoming).not.toHaveProperty('decisions');
    expect(incoming.settings).toEqual({});
  });

  test('a decisions part becomes the decision, with its channel', () => {
    const data = {
      extension: TOOL_APPROVAL_EXTENSION,
      decisions: [{ callId: 'c', shown: '3f9ac2d1', decision: 'approve' }],
      channel: 'elicitation',
    };
    expect(parse({ parts: [{ text: 'yes please' }, { data }] })).toMatchObject({
      channel: 'elicitation',
      decisions: { decisions: [{ callId: 'c', shown: '3f9ac2d1', decision: 'approve', scope: 'once' }] },
    });
  });

  test('a file part becomes a stored file: its bytes decide the type, and its content is stored apart from the message', () => {
    const raw = PNG.toString('base64');
    const { message, contents } = parse({
      parts: [{ text: 'hi' }, { raw, filename: 'a.jpg', mediaType: 'image/jpeg' }],
    });
    const contentHash = createHash('sha256').update(PNG).digest('hex');
    const file = { hash: contentHash, bytes: PNG.length, mediaType: 'image/png', name: 'a.jpg' };
    expect(message.parts).toEqual([
      { type: 'text', text: 'hi' },
      { type: 'stored-file', file },
    ]);
    expect(contents).toEqual([{ hash: contentHash, bytes: PNG }]);
  });

  test('a text file becomes text and is never read as a decision', () => {
    const raw = Buffer.from('approve').toString('base64');
    const { message, decisions } = parse({
      parts: [{ raw, filename: 'a\nb.md', mediaType: 'text/markdown' }],
    });
    expect(message.parts).toEqual([{ type: 'text', text: '[file a↵b.md]\napprove' }]);
    expect(decisions).toBeUndefined();
  });

  test('a file by URL, a type that no model reads, and more than 3 MB are refused; the error says what to send', () => {
    expect(() => parse({ parts: [{ url: 'https://example.com/a.png', mediaType: 'image/png' }] })).toThrow(
      expect.objectContaining({
        reason: 'UNSUPPORTED_CONTENT',
        message: expect.stringMatching(/takes no file part with a URL.*text part/),
      }),
    );
    expect(() => parse({ parts: [{ raw: 'UEsDBAA=', filename: 'a.zip' }] })).toThrow(
      expect.objectContaining({
        reason: 'UNSUPPORTED_CONTENT',
        message: expect.stringMatching(/"a\.zip".*workspace/),
      }),
    );
    const large = Buffer.concat([PNG, Buffer.alloc(1_500_000)]).toString('base64');
    expect(() => parse({ parts: [{ raw: large }, { raw: large }] })).toThrow(
      expect.objectContaining({ reason: 'TOO_LARGE' }),
    );
  });

  test('a command part becomes the command, and must be the only part', () => {
    const part = { extension: AGENT_COMMAND_EXTENSION, command: 'checkpoint restore', args: ['4f2a.1'] };
    const { extension: _, ...command } = part;
    expect(parse({ parts: [{ data: part }] }).message).toMatchObject({ command, parts: [{ data: part }] });
    expect(
      parse({ parts: [{ data: { extension: AGENT_COMMAND_EXTENSION, command: 'help' } }] }),
    ).toMatchObject({
      message: { command: { command: 'help', args: [] } },
    });
    for (const parts of [
      [{ data: part }, { text: 'please' }],
      [{ data: part }, { data: part }],
      [{ data: { ...part, args: 'x' } }],
      [{ data: { ...part, command: '' } }],
      [{ data: { ...part, sudo: true } }],
    ])
      expect(() => parse({ parts })).toThrow(expect.objectContaining({ reason: 'MALFORMED' }));
  });

  test.each([
    [
      ['g1', 'g2'],
      ['g1', 'g2'],
    ],
    ['all', 'all'],
  ])('a data part that revokes grants (%j) becomes the revocation', (revoke, expected) => {
    const incoming = parse({
      parts: [{ data: { extension: TOOL_APPROVAL_EXTENSION, revoke, channel: 'cli' } }],
    });
    expect(incoming).toMatchObject({ channel: 'cli', revoke: expected });
    expect(incoming).not.toHaveProperty('decisions');
  });

  test.each([
    { revoke: [] },
    { revoke: 'everything' },
    { revoke: ['g1'], decisions: [{ callId: 'c', decision: 'deny' }] },
    { revoke: [1] },
  ])('a data part that revokes grants in an unknown form (%j) is refused', (data) => {
    expect(() => parse({ parts: [{ data: { extension: TOOL_APPROVAL_EXTENSION, ...data } }] })).toThrow(
      expect.objectContaining({ reason: 'INVALID_DECISION' }),
    );
  });

  test('data without decision keys stays data', () => {
    const incoming = parse({ parts: [{ data: { rows: [1, 2] } }, { data: 'approve' }] });
    expect(incoming).not.toHaveProperty('decisions');
    expect(incoming.message.parts).toEqual([
      { type: 'data', data: { rows: [1, 2] } },
      { type: 'data', data: 'approve' },
    ]);
  });

  test('D1 any data part is an exact decision, an error, or ordinary data', () => {
    const nearly = fc.record(
      {
        extension: fc.constantFrom(TOOL_APPROVAL_EXTENSION, 'urn:other', 1),
        decisions: fc.oneof(
          fc.array(
            fc.record(
              {
                callId: fc.oneof(fc.string(), fc.integer()),
                decision: fc.constantFrom(
                  'approve',
                  'deny',
                  'edit',
                  'reject',
                  'APPROVE',
                  'approve ',
                  true,
                  1,
                ),
              },
              { requiredKeys: [] },
            ),
          ),
          fc.string(),
        ),
        channel: fc.oneof(fc.string(), fc.integer()),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(nearly, fc.jsonValue()), (data) => {
        const exact = decisionsPartSchema.safeParse(data);
        try {
          const incoming = parse({ parts: [{ data }] });
          if (exact.success) expect(incoming.decisions).toEqual(exact.data);
          else expect(incoming.decisions).toBeUndefined();
          if (incoming.decisions === undefined)
            expect(JSON.stringify(data)).not.toContain(`"extension":"${TOOL_APPROVAL_EXTENSION}"`);
        } catch (error) {
          expect(error).toBeInstanceOf(ProductError);
          expect(exact.success).toBe(false);
        }
      }),
      { examples: [[{ extension: TOOL_APPROVAL_EXTENSION }], [{ decisions: [] }]] },
    );
  });

  test('two decisions parts are refused: one message, one decision list', () => {
    const data = { extension: TOOL_APPROVAL_EXTENSION, decisions: [{ callId: 'c', decision: 'approve' }] };
    expect(() => parse({ parts: [{ data }, { data }] })).toThrow('can have only one decisions part');
  });

  test('R27 the hash of a message covers its content: only the order of keys and the message id do not change the hash', () => {
    const same = hash({ parts: [{ data: { a: 1, b: 2 } }] });
    expect(same).toMatch(/^[0-9a-f]{64}$/);
    expect(hash({ parts: [{ data: { b: 2, a: 1 } }], messageId: 'm-2' })).toBe(same);
    for (const other of [
      { parts: [{ data: { a: 1, b: 3 } }] },
      { parts: [{ data: { a: 1, b: 2 } }], taskId: 'task-1' },
      { parts: [{ data: { a: 1, b: 2 } }], contextId: 'task-1' },
      { parts: [{ data: { a: 1, b: 2 } }], metadata: { [TOOL_APPROVAL_EXTENSION]: { readOnly: true } } },
      { parts: [{ text: '{"a":1,"b":2}' }] },
    ])
      expect(hash(other)).not.toBe(same);
  });
});
