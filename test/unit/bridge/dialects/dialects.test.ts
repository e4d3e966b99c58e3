import { describe, expect, test } from '@jest/globals';
import { questionWithCode } from '../../../../bridge/dialects/plain-text-question.ts';
import { StreamResponse, TaskState } from '@a2a-js/sdk';
import { chooseDialect } from '../../../../bridge/dialects/choose-dialect.ts';
import type { PersonDecision } from '../../../../bridge/dialects/dialect.ts';
import { toolApprovalDialect } from '../../../../bridge/dialects/tool-approval.ts';
import { messageText, partsAsText } from '../../../../bridge/dialects/parts.ts';
import { plainA2aDialect } from '../../../../bridge/dialects/plain-a2a.ts';
import { RESUMABLE_STREAM_EXTENSION } from '../../../../shared/protocol/resumable-stream-extension.ts';
import {
  decisionsPartSchema,
  TOOL_APPROVAL_EXTENSION,
  type DecisionWord,
} from '../../../../shared/protocol/tool-approval.ts';
import { cpuMsOf } from '../../../support/cpu-time.ts';
import { FakeTask, part, pendingWrite, agentMessage } from '../../../support/fake-agent-task.ts';

const asked = { pending: [], question: null };
const askedFor = (...decisions: DecisionWord[]) => ({
  pending: [{ ...pendingWrite('a'), decisions }],
  question: null,
});
const task = (): FakeTask => new FakeTask('t', 's', true);
const event = (of: FakeTask): StreamResponse => ({ payload: { $case: 'task', value: of.toTask() } });
const lastEvent = (of: FakeTask): StreamResponse => {
  const last = of.events.at(-1);
  if (last === undefined) throw new Error('no event');
  // Encodes and decodes the value, as the network does.
  return StreamResponse.fromJSON(JSON.parse(JSON.stringify(StreamResponse.toJSON(last.event))));
};

const card = (name: string, ...extensions: string[]) => ({ name, extensions });

describe('the dialect of an agent', () => {
  test('the dialect is detected from the agent card', () => {
    expect(chooseDialect(card('x', TOOL_APPROVAL_EXTENSION, 'urn:other')).name).toBe('tool-approval');
    expect(chooseDialect(card('x', 'urn:other')).name).toBe('plain');
    expect(chooseDialect(card('x')).name).toBe('plain');
    expect(chooseDialect(card('Gemini SDLC Agent')).name).toBe('gemini');
    const proposed =
      'https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md';
    expect(chooseDialect(card('another', proposed)).name).toBe('gemini');
    expect(chooseDialect(card('Gemini SDLC Agent', TOOL_APPROVAL_EXTENSION)).name).toBe('tool-approval');
  });

  test('the dialect can be set in the configuration', () => {
    expect(chooseDialect({ name: 'x', extensions: [TOOL_APPROVAL_EXTENSION] }, 'plain').name).toBe('plain');
    expect(chooseDialect({ name: 'x', extensions: [] }, 'gemini').name).toBe('gemini');
  });
});

describe('the tool-approval dialect', () => {
  test('the tool-approval dialect separates tool output from the agent’s answer', () => {
    const said = { role: 'tool-output', toolId: 'x', title: 'Run a' };
    const base = task().toTask();
    const artifact = {
      artifactId: 'output-x',
      name: 'tool output',
      description: '',
      parts: [part({ $case: 'text', value: 'noise' })],
      metadata: { [TOOL_APPROVAL_EXTENSION]: said },
      extensions: [],
    };
    const wrapped: StreamResponse = {
      payload: {
        $case: 'task',
        value: { ...base, artifacts: [artifact, { ...artifact, metadata: undefined }] },
      },
    };
    const [snapshot] = toolApprovalDialect.read(wrapped).observations;
    const id = { id: 'output-x', name: 'tool output', text: expect.stringContaining('noise') };
    expect(snapshot).toMatchObject({ outputs: [{ ...id, aside: said }, id] });
    expect(plainA2aDialect.read(wrapped).observations).toMatchObject([{ outputs: [id, id] }]);
  });

  test('the tool-approval dialect reads pending actions from the status, and does not show them again as text', () => {
    const observed = toolApprovalDialect.read(lastEvent(task().ask(pendingWrite('one'))));
    expect(observed.seq).toBe(2);
    expect(observed.observations).toEqual([
      {
        type: 'status',
        taskId: 't',
        sessionId: 's',
        state: 'input-required',
        text: '',
        pending: [pendingWrite('one')],
        question: null,
      },
    ]);
  });

  test('the tool-approval dialect reads a whole task in the same way as its events', () => {
    const observed = toolApprovalDialect.read(event(task().say('so far').ask(pendingWrite('one'))));
    expect(observed.observations).toMatchObject([
      {
        type: 'snapshot',
        state: 'input-required',
        pending: [{ callId: 'one' }],
        outputs: [{ text: 'so far' }],
      },
    ]);
  });

  test.each([
    { type: 'tool.started', callId: 'c', tool: 'w', title: 'W', toolId: 'x' },
    {
      type: 'tool.decided',
      callId: 'c',
      tool: 'w',
      title: 'W',
      decision: 'approve',
      by: 'me',
      channel: 'tool',
    },
  ] as const)('the tool-approval dialect reads the activities of tools: $type', (activity) => {
    const observed = toolApprovalDialect.read(lastEvent(task().activity(activity)));
    expect(observed.observations).toMatchObject([
      { type: 'activity', activity },
      { type: 'status', state: 'working' },
    ]);
  });

  test('X3 malformed extension data is treated as ordinary data, and shown as text', () => {
    const waiting = task().ask(pendingWrite('one')).toTask();
    const wrong = { extension: TOOL_APPROVAL_EXTENSION, pending: [{ callId: 'one' }] };
    const status = {
      state: TaskState.TASK_STATE_INPUT_REQUIRED,
      timestamp: undefined,
      message: { ...agentMessage(''), parts: [part({ $case: 'data', value: wrong })] },
    };
    const metadata = {
      [RESUMABLE_STREAM_EXTENSION]: { seq: -1 },
      [TOOL_APPROVAL_EXTENSION]: { turns: 'many' },
    };
    const observed = toolApprovalDialect.read({
      payload: { $case: 'task', value: { ...waiting, status, metadata } },
    });
    expect(observed.seq).toBeNull();
    expect(observed.observations).toMatchObject([
      { pending: [], overview: null, text: expect.stringContaining('"callId": "one"') },
    ]);
  });

  test('the tool-approval dialect sends a message with the task’s settings; without settings it sends only text', () => {
    expect(toolApprovalDialect.phraseTask('go', { workspace: '/w', autoExecute: true })).toMatchObject({
      parts: [{ content: { $case: 'text', value: 'go' } }],
      metadata: { [TOOL_APPROVAL_EXTENSION]: { workspace: '/w', autoExecute: true } },
    });
    expect(toolApprovalDialect.phraseTask('go', {}).metadata).toBeUndefined();
  });

  test('the tool-approval dialect sends decisions as one data part that fits its own schema', () => {
    const { parts } = toolApprovalDialect.phraseDecisions(
      [
        { type: 'decision', decision: { callId: 'a', decision: 'approve', scope: 'once', shown: 'h' } },
        {
          type: 'decision',
          decision: { callId: 'b', shown: 'i', decision: 'deny', scope: 'once', reason: 'no' },
        },
      ],
      asked,
      'tool',
    );
    expect(parts).toHaveLength(1);
    const data = parts[0]?.content?.$case === 'data' ? parts[0].content.value : undefined;
    expect(decisionsPartSchema.parse(data)).toMatchObject({
      channel: 'tool',
      decisions: [
        { callId: 'a', shown: 'h' },
        { callId: 'b', reason: 'no' },
      ],
    });
  });

  test('the tool-approval dialect sends an answer as a decision, bound to the shown question; other texts have no decision', () => {
    const answer: PersonDecision = { type: 'answer', callId: 'a', answer: ['x'], shown: 'h' };
    const { parts } = toolApprovalDialect.phraseDecisions([answer], askedFor('answer', 'deny'), 'tool');
    const data = parts[0]?.content?.$case === 'data' ? parts[0].content.value : undefined;
    expect(decisionsPartSchema.parse(data).decisions).toEqual([
      { callId: 'a', decision: 'answer', scope: 'once', answer: ['x'], shown: 'h' },
    ]);
    expect(() => toolApprovalDialect.phraseDecisions([answer], askedFor('approve', 'deny'), 'tool')).toThrow(
      /Decide it with approve or deny/,
    );
  });
});

const status = (state: TaskState, text?: string): StreamResponse => ({
  payload: {
    $case: 'statusUpdate',
    value: {
      taskId: 't',
      contextId: 's',
      status: {
        state,
        timestamp: undefined,
        message: text === undefined ? undefined : agentMessage(text),
      },
      metadata: undefined,
    },
  },
});

describe('the plain dialect, for agents without extensions', () => {
  const question = questionWithCode({ id: 'm', text: 'Who?' });
  const code = question.shown;

  test('the plain dialect reads "input-required" as a question', () => {
    expect(
      plainA2aDialect.read(status(TaskState.TASK_STATE_INPUT_REQUIRED, 'Who?')).observations,
    ).toMatchObject([{ state: 'input-required', question }]);
    expect(plainA2aDialect.read(status(TaskState.TASK_STATE_WORKING, 'Who?')).observations).toMatchObject([
      { question: null },
    ]);
  });

  test('the plain dialect asks the person even if the agent sends no text', () => {
    expect(plainA2aDialect.read(status(TaskState.TASK_STATE_INPUT_REQUIRED)).observations).toMatchObject([
      { question: { id: 'question-t', text: expect.stringContaining('did not say for what') } },
    ]);
  });

  test('the plain dialect sends the answer as text', () => {
    const { parts } = plainA2aDialect.phraseDecisions(
      [{ type: 'answer', callId: 'm', shown: code, answer: 'Ada' }],
      { pending: [], question },
      'tool',
    );
    expect(parts).toMatchObject([{ content: { $case: 'text', value: 'Ada' } }]);
  });

  test('D1 the plain dialect accepts no approval, no answer to another question, and no answer without a question', () => {
    const approve = {
      type: 'decision',
      decision: { callId: 'm', shown: code, decision: 'approve', scope: 'once' },
    } as const;
    expect(() => plainA2aDialect.phraseDecisions([approve], { pending: [], question }, 'tool')).toThrow(
      /"answer" with callId "m"/,
    );
    expect(() =>
      plainA2aDialect.phraseDecisions(
        [{ type: 'answer', callId: 'x', shown: code, answer: 'Ada' }],
        { pending: [], question },
        'tool',
      ),
    ).toThrow(/is "m", not "x"/);
    expect(() =>
      plainA2aDialect.phraseDecisions(
        [{ type: 'answer', callId: 'm', shown: 'another question', answer: 'Ada' }],
        { pending: [], question },
        'tool',
      ),
    ).toThrow(/asks something else now/);
    expect(() =>
      plainA2aDialect.phraseDecisions(
        [{ type: 'answer', callId: 'm', shown: code, answer: 'Ada' }],
        asked,
        'tool',
      ),
    ).toThrow(/not asking/);
  });

  test('the plain dialect drops no content: it describes data, files and links', () => {
    const parts = [
      part({ $case: 'text', value: 'See: ' }),
      part({ $case: 'data', value: { a: 1 } }),
      {
        ...part({ $case: 'url', value: 'https://example.com/x.png' }),
        filename: 'x.png',
        mediaType: 'image/png',
      },
      { ...part({ $case: 'raw', value: Buffer.from('abc') }), filename: '', mediaType: '' },
    ];
    expect(partsAsText(parts)).toBe(
      'See: \n{\n  "a": 1\n}\n[x.png, image/png: https://example.com/x.png]\n[file: 3 bytes]',
    );
  });

  test('X3 the plain dialect shows the beginning of data of any length, and the length of the rest', () => {
    const shown = partsAsText([part({ $case: 'data', value: 'x'.repeat(1_000_000) })]);
    expect(shown.length).toBeLessThan(60_000);
    expect(shown).toMatch(/\(950002 more characters\)$/);
    const place = partsAsText([part({ $case: 'url', value: `data:${'x'.repeat(10_000)}` })]);
    expect(place.length).toBeLessThan(3_000);
  });

  // For a message 64 times as long, quadratic work would need 4,000 times as much time.
  test('X3 the time for a message is proportional to the number of its parts', () => {
    timeOfParts(1_000);
    const small = Math.max(1, timeOfParts(1_000), timeOfParts(1_000), timeOfParts(1_000));
    expect(timeOfParts(64_000) / small).toBeLessThan(640);
  });

  // Both need the same work if it is linear. Quadratic work for the long message would take 64 times as long.
  test('X3 one message of many omitted parts takes no longer than many messages of few', () => {
    const parts = Array.from({ length: 64_000 }, (_, at) => part({ $case: 'data', value: at }));
    const few = Array.from({ length: 64 }, (_, at) => parts.slice(at * 1_000, (at + 1) * 1_000));
    const shortMessages = cpuMsOf(() =>
      few.map((each) => messageText({ ...agentMessage(''), parts: each }, each)),
    );
    const longMessage = cpuMsOf(() => messageText(agentMessage(parts), parts));
    expect(longMessage / Math.max(10, shortMessages)).toBeLessThan(16);
  });

  test.each([1_000, 100_000])(
    'D5 an action that is nested %d deep is not offered, because no surface can show it',
    (depth) => {
      const deep = nested(depth);
      const action = { ...pendingWrite('a'), input: {}, preview: { type: 'json', value: deep } };
      const list = { extension: TOOL_APPROVAL_EXTENSION, pending: [action] };
      const waiting = status(TaskState.TASK_STATE_INPUT_REQUIRED);
      const call = { request: { callId: 'a', name: 'w', args: { deep } }, status: 'awaiting_approval' };
      const [told] = toolApprovalDialect.read(
        withParts(waiting, [part({ $case: 'data', value: list })]),
      ).observations;
      expect(told).toMatchObject({ type: 'status', state: 'input-required', pending: [] });
      const gemini = chooseDialect(card('Gemini SDLC Agent'));
      const kind = { coderAgent: { kind: 'tool-call-confirmation' } };
      const { observations } = gemini.read(withParts(waiting, [part({ $case: 'data', value: call })], kind));
      expect(observations.map(({ type }) => type)).toEqual(['moving']);
    },
  );

  test('a file without a name has the name of its artifact', () => {
    expect(partsAsText([part({ $case: 'raw', value: Buffer.from('abc') })], 'chart')).toBe(
      '[chart: 3 bytes]',
    );
  });

  test('X3 the plain dialect shows data of any depth without an error', () => {
    let deep: unknown = 1;
    for (let n = 0; n < 100_000; n += 1) deep = [deep];
    expect(partsAsText([part({ $case: 'data', value: deep })])).toBe('[data nested too deep to show]');
  });

  test('an event without content gives no observation', () => {
    expect(plainA2aDialect.read({ payload: undefined })).toEqual({ seq: null, observations: [] });
  });
});

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let n = 0; n < depth; n += 1) value = [value];
  return value;
}

function withParts(
  { payload }: StreamResponse,
  parts: ReturnType<typeof part>[],
  metadata?: Record<string, unknown>,
): StreamResponse {
  if (payload?.$case !== 'statusUpdate' || payload.value.status === undefined) throw new Error('no status');
  const { value } = payload;
  const told = { ...payload.value.status, message: agentMessage(parts) };
  return { payload: { $case: 'statusUpdate', value: { ...value, metadata, status: told } } };
}

function timeOfParts(count: number): number {
  const parts = Array.from({ length: count / 2 }, (_, at) => [
    part({ $case: 'text', value: 'some words' }),
    part({ $case: 'data', value: at }),
  ]).flat();
  return cpuMsOf(() => partsAsText(parts));
}
