import { describe, expect, test } from '@jest/globals';
import { Agent } from '../../../../../bridge/agents/agent.ts';
import { Session } from '../../../../../bridge/sessions/session/session.ts';
import {
  type CancelledTaskOutcome,
  type CancelledMcpCall,
  CancelledMcpCalls,
} from '../../../../../bridge/mcp/cancelled-calls/cancelled-calls.ts';
import { DecisionClaims } from '../../../../../bridge/state/decision-claims.ts';
import { temporaryDatabase } from '../../../../support/bridge-database.ts';

const agent = new Agent('local', () => Promise.reject(new Error('nobody is asked here')));

const claims = async () => new DecisionClaims(await temporaryDatabase());

function withdrawn(outcome: CancelledTaskOutcome, more: Partial<CancelledMcpCall> = {}): CancelledMcpCall {
  return { tool: 'wait_for_task', cause: { name: 'person', words: 'stop' }, outcome, ...more };
}

describe('the calls that a client has cancelled', () => {
  test('the calls are reported once each, oldest first, with the task’s state and how to return to the task', async () => {
    const withdrawals = new CancelledMcpCalls();
    const session = new Session(agent, 'message-1', { claims: await claims() });
    withdrawals.add(withdrawn({ type: 'goes-on' }, { session }));
    withdrawals.add(withdrawn({ type: 'unsent' }, { tool: 'delegate_task_to_assistant' }));
    const [first = '', second = ''] = withdrawals.take((name) => `p_${name}`);
    expect(first).toContain('p_wait_for_task was not answered: the person stopped it ("stop")');
    expect(first).toContain('Its task was not touched. Session "message-1"');
    expect(first).toContain('p_cancel_running_task');
    expect(second).toContain('p_delegate_task_to_assistant');
    expect(second).toContain('Nothing was sent.');
    expect(withdrawals.take((name) => name)).toEqual([]);
  });

  test('the calls are reported with the latest known state', async () => {
    const withdrawals = new CancelledMcpCalls();
    const call = withdrawn(
      { type: 'cancelling' },
      { session: new Session(agent, 'message-1', { claims: await claims() }) },
    );
    withdrawals.add(call);
    call.outcome = { type: 'not-cancelled', message: 'The agent is down.' };
    expect(withdrawals.take((name) => name)).toEqual([
      expect.stringContaining('could not be cancelled: The agent is down. Session "message-1"'),
    ]);
    withdrawals.add(
      withdrawn(
        { type: 'refused', message: 'No such model.' },
        { session: new Session(agent, 'm', { claims: await claims() }) },
      ),
    );
    const [refused] = withdrawals.take((name) => name);
    expect(refused).toMatch(/was refused: No such model\.$/);
  });

  test('the bridge keeps only the latest calls, up to a limit', () => {
    const withdrawals = new CancelledMcpCalls();
    for (let n = 0; n < 1_000; n += 1) {
      withdrawals.add(
        withdrawn({ type: 'unsent' }, { cause: { name: 'unexplained', words: `w${String(n)}` } }),
      );
    }
    const told = withdrawals.take((name) => name);
    expect(told).toHaveLength(20);
    expect(told.at(-1)).toContain('w999');
  });
});
