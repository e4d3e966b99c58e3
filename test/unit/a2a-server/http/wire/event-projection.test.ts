import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { StreamResponse } from '@a2a-js/sdk';
import { THINKING_EXTENSION } from '../../../../../shared/protocol/extensions.ts';
import { RESUMABLE_STREAM_EXTENSION } from '../../../../../shared/protocol/resumable-stream-extension.ts';
import {
  toolCallEventSchema,
  artifactRoleSchema,
  TOOL_APPROVAL_EXTENSION,
} from '../../../../../shared/protocol/tool-approval.ts';
import { ROLES, type Role } from '../../../../../a2a-server/access/role.ts';
import { toStreamResponse } from '../../../../../a2a-server/http/wire/event-projection.ts';
import type { WireOptions } from '../../../../../a2a-server/http/wire/build-messages-and-artifacts.ts';
import { isHiddenEvent } from '../../../../../a2a-server/task/generation.ts';
import type { ArtifactPart, TaskEvent } from '../../../../../a2a-server/task/events.ts';
import { NEEDS_ROLE } from '../../../../support/delegator-stage.ts';
import { questionCall } from '../../../../support/task-machine.ts';
import { callRequested, PENDING } from '../samples.ts';
import { decidedEvent } from '../../../../support/folded-task.ts';

const DELEGATES: readonly Role[] = ['delegate'];

const options = (approval: boolean, resumable: boolean): WireOptions => ({
  taskId: 'task-1',
  sessionId: 'session-1',
  approval,
  resumable,
});

const ref = { callId: 'call-1', tool: 'write-file', title: 'Write test.md' };
const by = { principal: 'local', channel: 'tool' };
const text = fc.string();

const anyPart = fc.oneof(
  text.map((it): ArtifactPart => ({ type: 'text', text: it })),
  // The SDK writes null as data, but cannot read it back. So the test leaves null out.
  fc
    .jsonValue()
    .filter((data) => data !== null)
    .map((data): ArtifactPart => ({ type: 'data', data })),
  fc
    .base64String()
    .map((base64): ArtifactPart => ({ type: 'file', base64, name: 'f', mediaType: 'text/csv' })),
  fc
    .constantFrom('https://example.com/a?b=c#d', 'http://[::1]:8080/%20', 'https://bücher.example/')
    .map((url): ArtifactPart => ({ type: 'file-url', url })),
);

/** Generates any event that a journal may contain. */
const anyEvent: fc.Arbitrary<TaskEvent> = fc.oneof(
  fc.constant<TaskEvent>({ type: 'task.created', sessionId: 'session-1', principal: 'local', settings: {} }),
  fc.constant<TaskEvent>({
    type: 'message.received',
    message: { messageId: 'm', parts: [{ type: 'text', text: 'hi' }] },
    channel: 'a2a',
  }),
  fc.constantFrom<TaskEvent>(
    { type: 'task.working' },
    { type: 'task.completed' },
    { type: 'turn.started', turn: 1, model: 'offline' },
    { type: 'turn.abandoned', turn: 1, reason: 'cut off' },
    { type: 'turn.finished', turn: 1, end: 'stop', usage: { inputTokens: 1, outputTokens: 1 } },
    { type: 'input.required', pending: [PENDING] },
    { type: 'input.required', pending: [] },
    { type: 'input.required', pending: [], question: 'Which?' },
    { type: 'auth.required', question: 'Who?' },
    { type: 'task.completed', message: 'All done.' },
    { type: 'turn.noted', turn: 1, text: 'looking' },
    { type: 'reasoning.delta', turn: 1, text: 'hmm' },
    {
      type: 'context.summarised',
      upTo: { taskId: 'task-1', turn: 1 },
      summary: 'It went well.',
      model: null,
      usage: { inputTokens: 0, outputTokens: 0 },
    },
    { type: 'context.clipped', upTo: { taskId: 'task-1', turn: 1 }, chars: 500 },
    { type: 'context.exceeded' },
    { type: 'model.unavailable', attempts: 1, until: 1, text: 'It is busy.' },
    { type: 'input.required', pending: [PENDING, { ...PENDING, callId: 'call-2' }] },
  ),
  text.map((it): TaskEvent => ({ type: 'text.delta', turn: 1, text: it })),
  fc
    .constantFrom(
      { type: 'ask' as const },
      { type: 'allow' as const, because: { type: 'read-only' as const } },
      { type: 'refuse' as const, message: 'no such tool' },
    )
    .map((verdict): TaskEvent => callRequested(verdict)),
  fc
    .constantFrom('approve' as const, 'deny' as const, 'edit' as const)
    .map((decision): TaskEvent => decidedEvent(ref.callId, { title: ref.title, decision, by })),
  fc
    .record({ append: fc.boolean(), lastChunk: fc.boolean(), parts: fc.array(anyPart) })
    .map(({ parts, ...rest }): TaskEvent => ({
      type: 'artifact.updated',
      turn: 1,
      artifact: { artifactId: 'a', name: 'n', description: '', parts },
      ...rest,
    })),
  fc.constant<TaskEvent>({ type: 'tool.started', ...ref, toolId: 'tool-1' }),
  text.map((it): TaskEvent => ({ type: 'tool.output', ...ref, toolId: 'tool-1', text: it })),
  fc.constantFrom('pending' as const, 'in_progress' as const, 'done' as const).map((status): TaskEvent => ({
    type: 'todos.updated',
    callId: 'call-1',
    todos: [{ text: 'write tests', status }],
  })),
  fc.record({ text, offset: fc.nat(), live: fc.boolean() }).map(({ live, ...rest }): TaskEvent => ({
    type: 'tool.output',
    ...ref,
    toolId: 'tool-1',
    ...rest,
    ...(!live && { kept: true }),
  })),
  fc
    .constantFrom(
      { type: 'ok' as const, text: 'done', summary: 'wrote test.md' },
      { type: 'error' as const, message: 'disk full' },
      { type: 'stopped' as const, reason: 'timeout' as const, confirmed: true, message: 'stopped', text: '' },
    )
    .map((outcome): TaskEvent => ({ type: 'tool.finished', ...ref, toolId: 'tool-1', outcome })),
  fc.boolean().map((rerun): TaskEvent => ({ type: 'tool.interrupted', ...ref, toolId: 'tool-1', rerun })),
  fc.constant<TaskEvent>({ type: 'tool.asked', call: questionCall('call-1.q1'), askedBy: 'call-1' }),
  fc.constant<TaskEvent>({ type: 'tool.withdrew', ...ref }),
  fc.constant<TaskEvent>({ type: 'tool.outdated', ...ref, preview: PENDING.preview, basis: 'x' }),
  text.map((message): TaskEvent => ({ type: 'task.failed', message })),
  text.map((message): TaskEvent => ({ type: 'task.rejected', message })),
  text.map((reason): TaskEvent => ({ type: 'task.canceled', reason, by })),
);

const anyEntry = fc.record({
  seq: fc.integer({ min: 1, max: 1e9 }),
  at: fc.integer({ min: 0, max: 4e12 }),
  event: anyEvent,
});

describe('a journal entry as a stream event', () => {
  test('S1 every entry gives at most one event, which stays equal after encoding and has its seq if the client requests it', () => {
    fc.assert(
      fc.property(anyEntry, fc.boolean(), (entry, approval) => {
        const event = toStreamResponse(entry, options(approval, true));
        if (event === undefined) {
          expect(isHiddenEvent(entry.event) || entry.event.type === 'reasoning.delta').toBe(true);
          return;
        }
        const wire: unknown = JSON.parse(JSON.stringify(StreamResponse.toJSON(event)));
        expect(StreamResponse.toJSON(StreamResponse.fromJSON(wire))).toEqual(wire);
        expect(wire).toMatchObject({
          [event.payload?.$case ?? '']: { metadata: { [RESUMABLE_STREAM_EXTENSION]: { seq: entry.seq } } },
        });
      }),
    );
  });

  test.each([
    { reader: { principal: 'ann', groups: ['release'], roles: ROLES }, decisions: ['deny'] },
    { reader: { principal: 'bob', roles: ROLES }, decisions: ['deny'] },
    { reader: { principal: 'bob', groups: ['release'], roles: ROLES }, decisions: PENDING.decisions },
    { reader: { principal: 'bob', groups: ['release'], roles: DELEGATES }, decisions: [] },
    { reader: undefined, decisions: PENDING.decisions },
  ])(
    'R121 the reader $reader of an action that demands an approver gets the decisions $decisions',
    (given) => {
      const approver = { otherThan: ['ann'], groups: ['release'] };
      const pending = [{ ...PENDING, approver }];
      const { reader, decisions } = given;
      const event = toStreamResponse(
        { seq: 1, at: 0, event: { type: 'input.required', pending } },
        { ...options(true, true), ...(reader && { reader }) },
      );
      const [, data] =
        event?.payload?.$case === 'statusUpdate' ? (event.payload.value.status?.message?.parts ?? []) : [];
      expect(data?.content?.value).toMatchObject({ pending: [{ approver, decisions }] });
    },
  );

  test.each([
    [{ budget: true as const }, true],
    [{ dayCost: { day: 1, usd: 2 } }, true],
    [{}, false],
  ])(
    'R122 a question of the kind %j tells a reader without the role that it needs the role: %j',
    (kind, says) => {
      const event: TaskEvent = { type: 'input.required', pending: [], question: 'Go on?', ...kind };
      const textFor = (roles: readonly Role[]): string =>
        JSON.stringify(
          toStreamResponse(
            { seq: 1, at: 0, event },
            { ...options(true, true), reader: { principal: 'acme/ci', roles } },
          ),
        );
      expect(textFor(DELEGATES).includes(NEEDS_ROLE)).toBe(says);
      expect(textFor(ROLES)).not.toContain('Needs');
    },
  );

  test('a status contains its time in ISO 8601, in UTC, with milliseconds', () => {
    const entry = { seq: 1, at: Date.UTC(2026, 0, 2, 3, 4, 5, 6), event: { type: 'task.working' as const } };
    expect(toStreamResponse(entry, options(false, false))?.payload?.value).toMatchObject({
      status: { timestamp: '2026-01-02T03:04:05.006Z' },
    });
  });

  test('a client without active extensions gets no extension data', () => {
    fc.assert(
      fc.property(anyEntry, (entry) => {
        expect(JSON.stringify(toStreamResponse(entry, options(false, false))) ?? '').not.toContain(
          'urn:mcp-a2a-bridge',
        );
      }),
    );
  });

  test('the conversion is pure: the same entry gives the same event', () => {
    fc.assert(
      fc.property(anyEntry, (entry) => {
        expect(toStreamResponse(entry, options(true, true))).toEqual(
          toStreamResponse(entry, options(true, true)),
        );
      }),
    );
  });

  test('only a client that requests reasoning gets it, with a mark', () => {
    const entry = { seq: 1, at: 0, event: { type: 'reasoning.delta' as const, turn: 2, text: 'hmm' } };
    expect(toStreamResponse(entry, options(true, true))).toBeUndefined();
    const payload = toStreamResponse(entry, { ...options(false, false), thinking: true })?.payload;
    expect(payload).toMatchObject({
      $case: 'statusUpdate',
      value: {
        status: { message: { parts: [{ content: { value: 'hmm' } }] } },
        metadata: { [THINKING_EXTENSION]: { turn: 2 } },
      },
    });
  });

  test('R40 a client with the extension gets each step of a call as an activity', () => {
    fc.assert(
      fc.property(anyEntry, (entry) => {
        if (!entry.event.type.startsWith('tool.') || 'kept' in entry.event) return;
        const payload = toStreamResponse(entry, options(true, false))?.payload;
        if (payload?.$case !== 'statusUpdate') throw new Error('a status update was expected');
        toolCallEventSchema.parse(payload.value.metadata?.[TOOL_APPROVAL_EXTENSION].activity);
        expect(payload.value.status?.message).toBeUndefined();
        if ('offset' in entry.event) return;
        const plain = toStreamResponse(entry, options(false, false))?.payload;
        if (plain?.$case !== 'statusUpdate') throw new Error('a status update was expected');
        expect(plain.value.status?.message?.parts).toHaveLength(1);
      }),
    );
  });

  test('the stored part of a long result is an artifact with the mark "not part of the answer"', () => {
    const event: TaskEvent = { type: 'tool.output', ...ref, toolId: 'x', text: 'a', offset: 0, kept: true };
    const payload = toStreamResponse({ seq: 1, at: 0, event }, options(true, false))?.payload;
    if (payload?.$case !== 'artifactUpdate') throw new Error('an artifact update was expected');
    const said: unknown = payload.value.artifact?.metadata?.[TOOL_APPROVAL_EXTENSION];
    expect(artifactRoleSchema.parse(said)).toEqual({
      role: 'tool-output',
      toolId: 'x',
      title: 'Write test.md',
    });
  });

  test('after the server discards a turn, clients get the turn’s artifact with empty text', () => {
    const event = toStreamResponse(
      { seq: 9, at: 0, event: { type: 'turn.abandoned', turn: 3, reason: 'crash' } },
      options(false, false),
    );
    expect(event?.payload).toMatchObject({
      $case: 'artifactUpdate',
      value: { append: false, artifact: { artifactId: 'turn-3', parts: [{ content: { value: '' } }] } },
    });
  });
});
