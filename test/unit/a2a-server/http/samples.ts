/** Sample values for the HTTP tests: a pending action and its call. */
import type { TaskEvent, PolicyVerdict } from '../../../../a2a-server/task/events.ts';
import { pendingWrite } from '../../../support/fake-agent-task.ts';

export const PENDING = pendingWrite('call-1', {
  title: 'Write test.md',
  input: { path: 'test.md', content: 'hello' },
  shown: '3f9ac2d1',
  preview: { type: 'diff', path: 'test.md', diff: '--- /dev/null\n+++ b/test.md\n+hello' },
});

export function callRequested(verdict: PolicyVerdict, callId = PENDING.callId): TaskEvent {
  const { tool, title, input, sideEffect, source, preview } = PENDING;
  return {
    type: 'tool.requested',
    turn: 1,
    call: {
      callId,
      modelCallId: `model-${callId}`,
      tool,
      title,
      input,
      inputHash: 'abc',
      sideEffect,
      source,
      preview,
      basis: null,
    },
    verdict,
  };
}
