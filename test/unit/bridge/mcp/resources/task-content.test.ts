import { describe, expect, it } from '@jest/globals';
import { taskResourceContent } from '../../../../../bridge/mcp/resources/task-content.ts';
import type { ObservedArtifact } from '../../../../../bridge/dialects/observation.ts';
import { foldObservedEvent } from '../../../../../bridge/sessions/session/observed-task.ts';

/** Returns the text of a task with these artifacts. */
function artifactsOf(...outputs: ObservedArtifact[]): string {
  const ids = { taskId: 't', sessionId: 's' };
  const status = { state: 'working' as const, text: '', pending: [], question: null };
  const view = foldObservedEvent(undefined, {
    seq: 1,
    observations: [
      { type: 'status', ...ids, ...status },
      ...outputs.map((output) => ({ type: 'output' as const, ...ids, output, append: false })),
    ],
  });
  if (view === undefined) throw new Error('nothing was observed');
  return taskResourceContent('artifacts', { agent: 'local', view, history: [] });
}

const TODOS: ObservedArtifact = {
  id: 'todos',
  name: 'todos',
  text: '- [x] step 1',
  aside: { role: 'todos', todos: [{ text: 'step 1', status: 'done' }] },
};
const NOISE: ObservedArtifact = {
  id: 'output-x',
  name: 'tool output',
  text: 'line 1\nline 2\n',
  aside: { role: 'tool-output', toolId: 'run-1', title: 'Run `make`' },
};

describe('the artifacts of a task as MCP resources', () => {
  it('R70 the artifacts begin with the answer, so that its rest has the announced position; tool output follows', () => {
    expect(artifactsOf(NOISE, TODOS, { id: 'turn-1', name: '', text: 'the answer' })).toBe(
      'the answer\n\n## Output of Run `make` (run-1)\n\nline 1\nline 2\n\n## Todos\n\n- [x] step 1',
    );
  });

  it('without an answer the artifacts are only tool output', () => {
    expect(artifactsOf(NOISE)).toBe('## Output of Run `make` (run-1)\n\nline 1\nline 2');
    expect(artifactsOf()).toBe('');
  });
});
