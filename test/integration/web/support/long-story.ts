/** Makes a long story of a task, as the server sends it. */
import type { StoryEvent } from '../../../../shared/protocol/task-story.ts';

/** Each call has four events. */
export function longStory(calls: number): StoryEvent[] {
  return Array.from({ length: calls }, (_, n): StoryEvent[] => {
    const at = Date.UTC(2026, 0, 1) + n * 1000;
    const execution = { callId: `c${n}`, toolId: `t${n}` };
    const input = { command: `echo ${n}` };
    const title = `Call ${n}`;
    return [
      {
        type: 'requested',
        seq: 4 * n + 1,
        at,
        callId: `c${n}`,
        tool: 'run',
        title,
        input,
        source: '',
        verdict: 'allowed: auto-execute',
        refused: false,
      },
      { type: 'started', seq: 4 * n + 2, at, ...execution },
      { type: 'output', seq: 4 * n + 3, at, ...execution, text: `output ${n}\n`.repeat(20) },
      {
        type: 'finished',
        seq: 4 * n + 4,
        at: at + 500,
        ...execution,
        outcome: 'ok',
        summary: 'exit 0',
        result: `result ${n}`,
      },
    ];
  }).flat();
}
