import { describe, expect, test } from '@jest/globals';
import { addToStory, NO_STORY, type Story } from '../../../../../../a2a-server/page/browser/task/story.ts';
import {
  callStateLabel,
  exactDurationText,
} from '../../../../../../a2a-server/page/browser/task/call-state.ts';
import { todosDoneText, todoChanges } from '../../../../../../a2a-server/page/browser/task/todo-changes.ts';
import type { StoryEvent } from '../../../../../../shared/protocol/task-story.ts';

type Given = StoryEvent extends infer Event
  ? Event extends unknown
    ? Omit<Event, 'seq' | 'at'>
    : never
  : never;

/** Adds the events after the story's end. Each event is one second after the previous one. */
function told(events: readonly Given[], before: Story = NO_STORY): Story {
  const placed = events.map((event, index) => {
    const seq = before.seq + index + 1;
    return { ...event, seq, at: seq * 1000 };
  });
  return addToStory(before, { events: placed, seq: before.seq + events.length, more: false });
}

const requested: Given = {
  type: 'requested',
  callId: 'c1',
  tool: 'write-file',
  title: 'Write a.md',
  input: { path: 'a.md' },
  source: '',
  verdict: 'a person decides',
  refused: false,
};
const approved: Given = {
  type: 'decided',
  callId: 'c1',
  decision: 'approve',
  scope: 'once',
  by: 'local',
  channel: 'page',
  reason: '',
  edited: null,
  answer: null,
};
const started: Given = { type: 'started', callId: 'c1', toolId: 't1' };
const output = (text: string): Given => ({ type: 'output', callId: 'c1', toolId: 't1', text });
const finished: Given = {
  type: 'finished',
  callId: 'c1',
  toolId: 't1',
  outcome: 'ok',
  summary: 'wrote it',
  result: 'done',
};
const thought = (words: string): Given => ({ type: 'reasoning', turn: 1, text: words });
const text = (words: string, turn = 1): Given => ({ type: 'text', turn, text: words });
const artifact = (words: string, append: boolean): Given => ({
  type: 'artifact',
  artifactId: 'plan',
  name: 'Plan',
  text: words,
  append,
});

function callOf(story: Story) {
  const [step] = story.steps.filter(({ type }) => type === 'call');
  if (step?.type !== 'call') throw new Error('the story has no call');
  return step;
}
const stateAfterEnd = (...events: Given[]): string => callStateLabel(callOf(told(events)), false).word;
const stateAfter = (...events: Given[]): string => callStateLabel(callOf(told(events)), true).word;

describe('the story of a task', () => {
  test('a call is one step with its decisions, its output and its outcome', () => {
    const story = told([requested, approved, started, output('a'), output('b'), finished]);
    expect(story.steps).toHaveLength(1);
    expect(callOf(story)).toMatchObject({
      decisions: [{ by: 'local', channel: 'page' }],
      runs: [{ toolId: 't1', startedAt: 3000, output: 'ab', end: { at: 6000, outcome: 'ok' } }],
    });
  });

  test.each([
    ['exited with code 0', 'done'],
    ['exited with code 3', 'exited with code 3'],
    ['was ended by SIGKILL', 'was ended by SIGKILL'],
  ])('a shell command that %s has the state "%s"', (ending, word) => {
    const ended: Given = { ...finished, summary: `\`echo exited with code 7\` ${ending}` };
    expect(stateAfter({ ...requested, tool: 'run-shell-command' }, approved, started, ended)).toBe(word);
    expect(stateAfter(requested, approved, started, ended)).toBe('done');
  });

  test('R103 a decision after an unknown outcome counts even if the clock went back in between', () => {
    const unknown: Given = { ...finished, outcome: 'unknown' };
    const events = [requested, approved, started, unknown, approved].map((event, index): StoryEvent => ({
      ...event,
      seq: index + 1,
      at: -index,
    }));
    const story = addToStory(NO_STORY, { events, seq: events.length, more: false });
    expect(callStateLabel(callOf(story), true).word).toBe('about to run');
  });

  test('a text after a call of the same turn is a step of its own', () => {
    const story = told([text('one '), text('two'), requested, text('three')]);
    expect(story.steps).toMatchObject([{ text: 'one two' }, { type: 'call' }, { text: 'three' }]);
  });

  test('S1 a page that the story already contains changes nothing; a page that overlaps adds only its new events', () => {
    const story = told([text('one')]);
    const events: StoryEvent[] = [
      { type: 'text', turn: 1, text: 'one', seq: 1, at: 0 },
      { type: 'text', turn: 1, text: ' two', seq: 2, at: 0 },
    ];
    expect(addToStory(story, { events: events.slice(0, 1), seq: 1, more: true })).toBe(story);
    expect(addToStory(story, { events, seq: 2, more: false }).steps).toMatchObject([{ text: 'one two' }]);
  });

  test('a step that has not changed stays the same object', () => {
    const before = told([text('one'), requested]);
    const after = told([approved], before);
    expect(after.steps[0]).toBe(before.steps[0]);
    expect(after.steps[1]).not.toBe(before.steps[1]);
    expect(callOf(before).decisions).toEqual([]);
  });

  test('the texts of an abandoned turn say why the task ignores them', () => {
    const abandoned: Given = { type: 'abandoned', turn: 1, reason: 'the model broke off' };
    const story = told([text('one'), abandoned, text('two', 2)]);
    expect(story.steps).toMatchObject([{ abandoned: 'the model broke off' }, { abandoned: undefined }]);
  });

  test('the reasoning of a turn is one step apart from its text', () => {
    const story = told([thought('a'), thought('b'), text('one'), thought('c')]);
    expect(story.steps).toMatchObject([
      { type: 'reasoning', text: 'ab' },
      { type: 'text', text: 'one' },
      { type: 'reasoning', text: 'c' },
    ]);
  });

  test('each change of the to-do list is a step, and the story has the current list', () => {
    const first = [
      { text: 'read', status: 'in_progress' as const },
      { text: 'write', status: 'pending' as const },
      { text: 'test', status: 'pending' as const },
    ];
    const second = [
      { text: 'read', status: 'done' as const },
      { text: 'write', status: 'pending' as const },
      { text: 'land', status: 'pending' as const },
    ];
    const story = told([
      { type: 'todos', todos: first },
      { type: 'todos', todos: second },
    ]);
    expect(story.todos).toEqual(second);
    expect(story.steps).toMatchObject([
      { todos: first, before: [] },
      { todos: second, before: first },
    ]);
    expect(todoChanges(first, second)).toEqual([
      { text: 'read', change: 'done' },
      { text: 'land', change: 'pending' },
      { text: 'test', change: 'removed' },
    ]);
    expect(todosDoneText(second)).toBe('1 of 3 done');
  });

  test('a chunk of an artifact extends it, and a whole artifact replaces it', () => {
    expect(told([artifact('a', false), artifact('b', true)]).steps).toMatchObject([{ text: 'ab' }]);
    expect(told([artifact('a', false), artifact('b', false)]).steps).toMatchObject([{ text: 'b' }]);
  });

  test('the output of an execution keeps its last 20,000 characters', () => {
    const story = told([requested, started, output('a'.repeat(20_000)), output('b')]);
    expect(callOf(story).runs[0]?.output).toBe(`${'a'.repeat(19_999)}b`);
  });
});

describe('the state of a call', () => {
  test('the state follows the call from the request to the outcome', () => {
    expect(stateAfter(requested)).toBe('waits');
    expect(stateAfter(requested, approved)).toBe('about to run');
    expect(stateAfter(requested, approved, started)).toBe('running');
    expect(stateAfter(requested, approved, started, finished)).toBe('done');
    expect(stateAfter({ ...requested, verdict: 'allowed: read-only' })).toBe('about to run');
    expect(stateAfter({ ...requested, refused: true })).toBe('refused');
    expect(stateAfter(requested, { ...approved, decision: 'deny' })).toBe('denied');
    expect(stateAfter(requested, { type: 'withdrawn', callId: 'c1' })).toBe('withdrawn');
  });

  test('D2 an approved call waits again after its content has changed', () => {
    const outdated: Given = { type: 'outdated', callId: 'c1' };
    expect(stateAfter(requested, approved, outdated)).toBe('waits');
    expect(stateAfter(requested, approved, outdated, approved)).toBe('about to run');
  });

  test('E2 a call with an unknown outcome runs again only after the next approval', () => {
    const lost: Given = { ...finished, outcome: 'unknown' };
    expect(stateAfter(requested, approved, started, lost)).toBe('outcome unknown');
    expect(stateAfter(requested, approved, started, lost, approved)).toBe('about to run');
  });

  test('after the end of the task, no call waits or runs', () => {
    expect(stateAfterEnd(requested)).toBe('did not run');
    expect(stateAfterEnd(requested, approved, started)).toBe('outcome unknown');
  });

  test('a duration has at most two units', () => {
    expect([40, 1_400, 12_000, 185_000, 7_800_000].map(exactDurationText)).toEqual([
      '40 ms',
      '1.4 s',
      '12 s',
      '3 min 5 s',
      '2 h 10 min',
    ]);
  });
});
