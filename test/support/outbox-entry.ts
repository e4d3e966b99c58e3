import type { OutboxEntry } from '../../bridge/state/outbox-entry.ts';

/** A delegation whose message has perhaps not arrived. */
export function outboxEntry(messageId: string, changes: Partial<OutboxEntry> = {}): OutboxEntry {
  return {
    messageId,
    agent: 'local',
    title: 'Do it',
    text: 'Do it',
    settings: {},
    sessionId: null,
    taskId: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    state: { type: 'sending' },
    cancel: null,
    answered: false,
    ...changes,
  };
}
