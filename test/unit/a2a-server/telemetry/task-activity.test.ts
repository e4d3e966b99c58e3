import { describe, expect, it } from '@jest/globals';
import { TaskActivityTracker } from '../../../../a2a-server/telemetry/task-activity.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import { completed, created, inputRequired, toolStarted, working } from '../../../support/journal-samples.ts';

const turnStarted: TaskEvent = { type: 'turn.started', turn: 1, model: 'offline' };
const usage = { inputTokens: 10, outputTokens: 2 };
const turnFinished: TaskEvent = { type: 'turn.finished', turn: 1, end: 'stop', usage, usd: 0.5 };
const toolFinished: TaskEvent = {
  type: 'tool.finished',
  callId: 'call',
  tool: 'wait',
  title: 'Wait',
  toolId: 'tool-1',
  outcome: { type: 'ok', text: 'SECRET', summary: 'SECRET' },
};

/** Appends one event per second. */
function noted(activities: TaskActivityTracker, events: readonly TaskEvent[], from = 0) {
  const entries = events.map((event, index) => ({ seq: index + 1, at: from + index * 1_000, event }));
  return activities.note('task', entries);
}

describe('the activities of a task', () => {
  it('a model call and a tool execution have the times of their start and their end', () => {
    const events = [created('s'), turnStarted, turnFinished, toolStarted('tool-1'), toolFinished, completed];
    expect(noted(new TaskActivityTracker(), events)).toEqual([
      { type: 'execution-start', at: 1_000 },
      {
        type: 'model-call',
        model: 'offline',
        turn: 1,
        startedAt: 1_000,
        endedAt: 2_000,
        usage,
        usd: 0.5,
        failed: false,
      },
      {
        type: 'tool-execution',
        tool: 'wait',
        callId: 'call',
        toolId: 'tool-1',
        startedAt: 3_000,
        endedAt: 4_000,
        outcome: 'ok',
      },
      { type: 'execution-end', at: 5_000 },
      { type: 'task-end', state: 'completed', at: 5_000 },
    ]);
  });

  it('an abandoned turn is a failed model call', () => {
    const abandoned: TaskEvent = { type: 'turn.abandoned', turn: 1, reason: 'SECRET' };
    expect(noted(new TaskActivityTracker(), [turnStarted, abandoned])).toMatchObject([
      { type: 'execution-start' },
      { type: 'model-call', failed: true, startedAt: 0, endedAt: 1_000 },
    ]);
  });

  it('an end whose start another process recorded has no duration, so it is no activity', () => {
    expect(noted(new TaskActivityTracker(), [turnFinished, toolFinished])).toEqual([]);
  });

  it('an execution lasts from the first work until the task parks, and starts again after the decision', () => {
    const events = [turnStarted, turnFinished, inputRequired, working, toolStarted('tool-1'), completed];
    const ends = noted(new TaskActivityTracker(), events).filter(({ type }) => type.startsWith('execution'));
    expect(ends).toEqual([
      { type: 'execution-start', at: 0 },
      { type: 'execution-end', at: 2_000 },
      { type: 'execution-start', at: 4_000 },
      { type: 'execution-end', at: 5_000 },
    ]);
  });

  it('a parked or ended task uses no memory, except while a running tool asks a question', () => {
    const activities = new TaskActivityTracker();
    noted(activities, [turnStarted, turnFinished, inputRequired]);
    expect(activities.size).toBe(0);
    noted(activities, [toolStarted('tool-1'), inputRequired]);
    expect(activities.size).toBe(1);
    expect(noted(activities, [working, toolFinished], 9_000)).toMatchObject([
      { startedAt: 0, endedAt: 10_000 },
    ]);
    noted(activities, [completed]);
    expect(activities.size).toBe(0);
  });
});
