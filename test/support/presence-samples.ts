import type { DecisionStatement, PresenceStatement } from '../../shared/presence/presence-proof.ts';

/** A decision that a person may prove with a passkey. */
export const PROVED_DECISION: DecisionStatement = {
  taskId: 'task-1',
  callId: 'call-1',
  tool: 'write-file',
  shown: '01234567',
  asked: 'approval',
  inputHash: 'aa',
  basis: null,
  decision: 'approve',
  edited: null,
  reason: null,
};

export const PRESENCE_STATEMENT: PresenceStatement = {
  presence: 1,
  ...PROVED_DECISION,
  nonce: 'n',
  expiresAt: '2026-01-01T00:05:00.000Z',
};
