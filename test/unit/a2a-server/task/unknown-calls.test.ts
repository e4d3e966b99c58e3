import { describe, expect, it } from '@jest/globals';
import { decideCalls } from '../../../../a2a-server/task/decide.ts';
import { firstSnapshot } from '../../../../a2a-server/task/fold.ts';

const by = { principal: 'ada', channel: 'tool' };
const at = Date.UTC(2026, 0, 2);
const created = { type: 'task.created', sessionId: 's', principal: 'ada', settings: {} } as const;

describe('decideCalls, for an unknown call', () => {
  it.each(['__proto__', 'constructor', 'toString'])(
    'R07 a call id with the name of an object’s built-in property (%s) names no call',
    (callId) => {
      const task = firstSnapshot('t', { seq: 1, at, event: created });
      if (task === undefined) throw new Error('no task');
      const decision = { callId, decision: 'approve', scope: 'once', reason: null } as const;
      expect(decideCalls(task, [{ ...decision, shown: null, edited: null }], { by, at })).toMatchObject({
        type: 'refuse',
        reason: 'UNKNOWN_CALL',
      });
    },
  );
});
