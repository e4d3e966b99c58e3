import { describe, expect, it } from '@jest/globals';
import {
  buildConversation,
  type ConversationStep,
} from '../../../../a2a-server/task/conversation/conversation.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { request } from '../../../support/task-machine.ts';
import type { TurnPart } from '../../../../a2a-server/task/replay-provider-data.ts';
import { foldedTask } from '../../../support/folded-task.ts';
import { created, message } from '../../../support/journal-samples.ts';

const READER = { model: 'm', basis: 'b' };
const USAGE = { inputTokens: 1, outputTokens: 1 };
const SIGNED: TurnPart[] = [
  { type: 'reasoning', length: 3, state: { p: { signature: 's' } } },
  { type: 'text', length: 6 },
  { type: 'reasoning', length: 5 },
  { type: 'text', length: 2 },
];

function task(taskId: string, ...events: TaskEvent[]): Snapshot {
  return foldedTask([created('s'), message('', taskId), ...events], taskId);
}

function turn(number: number, { model = 'm', basis = 'b' } = {}): TaskEvent[] {
  return [
    { type: 'turn.started', turn: number, model },
    { type: 'reasoning.delta', turn: number, text: 'one' },
    { type: 'text.delta', turn: number, text: 'first ' },
    { type: 'reasoning.delta', turn: number, text: 'two' },
    { type: 'reasoning.delta', turn: number, text: '..' },
    { type: 'text.delta', turn: number, text: 'ok' },
    { type: 'turn.finished', turn: number, end: 'stop', usage: USAGE, replay: { basis, parts: SIGNED } },
  ];
}

function requested(callId: string): TaskEvent {
  return {
    type: 'tool.requested',
    turn: 1,
    call: request(callId, true),
    verdict: { type: 'allow', because: { type: 'read-only' } },
  };
}

const summary: TaskEvent = {
  type: 'context.summarised',
  upTo: { taskId: 'a', turn: 1 },
  summary: 'so far',
  model: 'm',
  usage: USAGE,
};

function replays(steps: readonly ConversationStep[]): boolean[] {
  return steps.flatMap((step) => (step.role === 'assistant' ? [step.parts !== undefined] : []));
}

describe('a turn in the prompt of its own model', () => {
  it('the prompt has the turn’s reasoning and text in their order, with the provider’s data', () => {
    const [, answer] = buildConversation([], task('a', ...turn(1)), READER);
    expect(answer).toMatchObject({
      text: 'first ok',
      parts: [
        { type: 'reasoning', text: 'one', state: { p: { signature: 's' } } },
        { type: 'text', text: 'first ' },
        { type: 'reasoning', text: 'two..' },
        { type: 'text', text: 'ok' },
      ],
    });
  });

  it('the prompt has the turn’s calls with their data, and with the input that the model wrote', () => {
    const parts: TurnPart[] = [
      { type: 'call', state: { p: { signature: 's' } } },
      { type: 'call', input: { as: 'written' } },
      { type: 'call' },
    ];
    const current = task(
      'a',
      { type: 'turn.started', turn: 1, model: 'm' },
      requested('one'),
      requested('two'),
      { type: 'turn.finished', turn: 1, end: 'tool-calls', usage: USAGE, replay: { basis: 'b', parts } },
    );
    const { tool, input } = request('one', true);
    expect(buildConversation([], current, READER).find(({ role }) => role === 'assistant')).toMatchObject({
      parts: [
        {
          type: 'call',
          modelCallId: request('one', true).modelCallId,
          tool,
          input,
          state: { p: { signature: 's' } },
        },
        { type: 'call', modelCallId: request('two', true).modelCallId, tool, input: { as: 'written' } },
      ],
    });
  });

  it.each([
    ['another model', { ...READER, model: 'n' }],
    ['other instructions or tools', { ...READER, basis: 'c' }],
    ['no model', undefined],
  ])('the prompt has only text and calls for %s', (_, reader) => {
    expect(replays(buildConversation([], task('a', ...turn(1)), reader))).toEqual([false]);
  });

  it('a prompt for another model has the server’s own call ids, in calls and results', () => {
    const foreignCall: TaskEvent = {
      type: 'tool.requested',
      turn: 1,
      call: { ...request('own-1', true), modelCallId: 'functions.look:0' },
      verdict: { type: 'allow', because: { type: 'read-only' } },
    };
    const current = task('a', { type: 'turn.started', turn: 1, model: 'm' }, foreignCall, {
      type: 'turn.finished',
      turn: 1,
      end: 'tool-calls',
      usage: USAGE,
    });
    const ids = (model: string): string[] =>
      buildConversation([], current, { ...READER, model }).flatMap((step) =>
        step.role === 'assistant'
          ? step.calls.map(({ modelCallId }) => modelCallId)
          : step.role === 'tool'
            ? step.results.map(({ modelCallId }) => modelCallId)
            : [],
      );
    expect(ids('m')).toEqual(['functions.look:0', 'functions.look:0']);
    expect(ids('n')).toEqual(['own-1', 'own-1']);
  });

  it('after the conversation was shortened, the prompt has only text and calls for earlier turns; later turns are complete', () => {
    const current = task('a', ...turn(1), ...turn(2), summary, ...turn(3));
    expect(replays(buildConversation([], current, READER))).toEqual([false, true]);
    const next = task('b', ...turn(1));
    expect(replays(buildConversation([current], next, READER))).toEqual([false, true, true]);
    const shortened = task('b', ...turn(1), {
      type: 'context.clipped',
      upTo: { taskId: 'b', turn: 1 },
      chars: 500,
    });
    expect(replays(buildConversation([current], shortened, READER))).toEqual([false, false, false]);
  });

  it('the prompt has only text and calls for a turn from an earlier version’s journal', () => {
    const [started, finished] = [turn(1)[0], turn(1).at(-1)];
    if (started === undefined || finished?.type !== 'turn.finished') throw new Error('no turn');
    const { replay: _, ...old } = finished;
    const steps = buildConversation(
      [],
      task('a', started, { type: 'text.delta', turn: 1, text: 'ok' }, old),
      READER,
    );
    expect(steps.at(-1)).toEqual({ role: 'assistant', text: 'ok', calls: [] });
  });
});
