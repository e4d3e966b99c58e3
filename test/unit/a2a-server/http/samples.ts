/** A pending action and the call behind it. */
import type { PendingAction } from '../../../../shared/protocol/tool-approval.ts';
import type { TaskEvent, PolicyVerdict } from '../../../../a2a-server/task/events.ts';

export const PENDING: PendingAction = {
  callId: 'call-1',
  tool: 'write-file',
  title: 'Write test.md',
  input: { path: 'test.md', content: 'hello' },
  shown: '3f9ac2d1',
  sideEffect: 'files',
  source: { type: 'built-in' },
  preview: { type: 'diff', path: 'test.md', diff: '--- /dev/null\n+++ b/test.md\n+hello' },
  reason: 'approval',
  expiresAt: null,
  decisions: ['approve', 'deny', 'edit'],
};

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
