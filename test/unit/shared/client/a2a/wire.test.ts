import { describe, expect, test } from '@jest/globals';
import { pendingActionsSchema, streamResponseSchema } from '../../../../../shared/client/a2a/wire.ts';
import * as protocol from '../../../../../shared/protocol/tool-approval.ts';

const call = { callId: 'c', tool: 't', title: 'T' };
const action = {
  ...call,
  input: { a: [1] },
  shown: 'h',
  sideEffect: 'none',
  source: { type: 'built-in' },
  preview: { type: 'json', value: null },
  reason: 'approval',
  expiresAt: null,
  decisions: protocol.decisionWordSchema.options,
};
const part = (change: object): object => ({
  extension: protocol.TOOL_APPROVAL_EXTENSION,
  pending: [{ ...action, ...change }],
});

const finished = { type: 'tool.finished', ...call, toolId: null, summary: '' };

/** One activity of each kind that the server may send. A new kind needs an entry here and in the client. */
const ACTIVITIES: object[] = [
  { type: 'tool.requested', ...call, asks: true },
  { type: 'tool.requested', ...call, asks: true, question: true },
  ...protocol.decisionWordSchema.options.map((decision) => ({
    type: 'tool.decided',
    ...call,
    decision,
    by: 'b',
    channel: 'c',
  })),
  { type: 'tool.started', ...call, toolId: 'x' },
  { type: 'tool.output', ...call, toolId: 'x', text: '…' },
  ...['ok', 'error', 'stopped', 'denied', 'skipped', 'withdrawn', 'unknown'].map((outcome) => ({
    ...finished,
    outcome,
  })),
  ...protocol.stopReasonSchema.options.map((stopReason) => ({ ...finished, outcome: 'stopped', stopReason })),
];
const FORM = {
  type: 'object',
  properties: {
    all: {
      type: 'string',
      title: 't',
      description: 'd',
      default: 'x',
      enum: ['x'],
      enumNames: ['X'],
      oneOf: [{ const: 'x', title: 'X' }],
      format: 'email',
      minLength: 1,
      maxLength: 2,
      minimum: 1,
      maximum: 2,
      minItems: 1,
      maxItems: 2,
      items: { type: 'string', enum: ['y'], anyOf: [{ const: 'y' }] },
    },
    ...Object.fromEntries(['number', 'integer', 'boolean', 'array'].map((type) => [type, { type }])),
  },
  required: ['all'],
};
const PARTS: object[] = [
  ...protocol.sideEffectSchema.options.map((sideEffect) => part({ sideEffect })),
  ...protocol.pendingReasonSchema.options.map((reason) => part({ reason })),
  ...[
    { type: 'diff', path: 'p', diff: 'd' },
    { type: 'command', command: 'c', cwd: '/' },
    { type: 'url', url: 'u' },
    { type: 'json', value: { deep: [] } },
    { type: 'question', text: 'Which?' },
    {
      type: 'question',
      text: 'Which?',
      choices: [{ label: 'a', description: 'A' }],
      multiple: true,
      freeText: true,
    },
    { type: 'question', text: 'Which?', schema: FORM },
  ].map((preview) => part({ preview })),
];

describe('the client’s schema reads the protocol’s values unchanged', () => {
  test.each(ACTIVITIES)('the schema reads %j unchanged', (value) => {
    expect(protocol.toolCallEventSchema.parse(value)).toEqual(value);
  });

  test('this test covers every kind of activity and preview', () => {
    const types = protocol.toolCallEventSchema.def.options.flatMap(({ shape }) => shape.type.def.values);
    expect(new Set(ACTIVITIES.map((value) => Object(value)['type']))).toEqual(new Set(types));
    expect(protocol.previewSchema.def.options).toHaveLength(5);
  });

  test.each(PARTS)('the schema reads each variant: %j', (value) => {
    // The client's schema omits the tool's source. So the test sets the same source in each action.
    const read = pendingActionsSchema
      .parse(value)
      .pending.map((each) => ({ ...each, source: action.source }));
    expect(read).toEqual(protocol.pendingActionsPartSchema.parse(value).pending);
  });

  test('unknown fields are ignored', () => {
    expect(streamResponseSchema.parse({ newThing: {}, task: undefined })).toEqual({});
  });
});
