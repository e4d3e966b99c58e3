import { describe, expect, it } from '@jest/globals';
import { createCall } from '../../../../a2a-server/task/call-state.ts';
import { shownCodeOf } from '../../../../a2a-server/task/shown-code-of-call.ts';
import { request } from '../../../support/task-machine.ts';

const call = createCall(request('a', false), 1, { type: 'waiting', reason: 'approval' });

describe('the shown code of a waiting call', () => {
  it('D2 the code differs if the reason, the input or the content differs', () => {
    const codes = [
      shownCodeOf(call, 'approval'),
      shownCodeOf(call, 'content-changed'),
      shownCodeOf({ ...call, inputHash: 'other' }, 'approval'),
      shownCodeOf({ ...call, basis: 'other' }, 'approval'),
    ];
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('E2 the code differs by the execution only if the execution’s outcome is unknown', () => {
    const [first, second] = ['x1', 'x2'].map((toolId) => ({ ...call, toolId }));
    if (first === undefined || second === undefined) throw new Error('no call');
    expect(shownCodeOf(first, 'outcome-unknown')).not.toBe(shownCodeOf(second, 'outcome-unknown'));
    expect(shownCodeOf(first, 'approval')).toBe(shownCodeOf(second, 'approval'));
  });
});
