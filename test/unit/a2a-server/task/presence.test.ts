import { describe, expect, it } from '@jest/globals';
import { isRefusal } from '../../../../a2a-server/task/command-outcome.ts';
import { eventsOf } from '../../../support/folded-task.ts';
import { decideCalls, type ResolvedDecision } from '../../../../a2a-server/task/decide.ts';
import { foldNextEvents } from '../../../../a2a-server/task/fold.ts';
import { pendingActions } from '../../../../a2a-server/task/pending.ts';
import { decisionStatement } from '../../../../a2a-server/task/presence.ts';
import { findCall, type Snapshot, type WaitingCall } from '../../../../a2a-server/task/snapshot.ts';
import { decisionInText } from '../../../../a2a-server/task/text-decision.ts';
import type { PresenceProof } from '../../../../shared/presence/presence-proof.ts';
import { parkedTask, taskAfter, turnEventsWith } from '../../../support/folded-task.ts';
import { request } from '../../../support/task-machine.ts';

const by = { principal: 'ada', channel: 'tool' };
const RULE = 'rule 1 (presence: tool "*")';

/** Returns a task whose call `a` waits. @param demands true if a rule demands presence for the call */
function waiting(demands = true): Snapshot {
  const events = turnEventsWith([{ call: request('a', false), ask: true }]);
  return parkedTask(
    taskAfter(
      ...events.map((event) =>
        event.type === 'tool.requested' && demands
          ? { ...event, verdict: { type: 'ask', rule: RULE, presence: true } as const }
          : event,
      ),
    ),
  );
}

function callA(snapshot: Snapshot): WaitingCall {
  const call = findCall(snapshot, 'a');
  if (call?.state.type !== 'waiting') throw new Error('call a does not wait');
  return { ...call, state: call.state };
}

function decision(snapshot: Snapshot, more: Partial<ResolvedDecision> = {}): ResolvedDecision {
  const shown = pendingActions(snapshot)[0]?.shown ?? null;
  return { callId: 'a', decision: 'approve', scope: 'once', reason: null, shown, edited: null, ...more };
}

function proofOf(snapshot: Snapshot, about: ResolvedDecision): PresenceProof {
  const statement = decisionStatement(snapshot, callA(snapshot), about);
  if (statement === undefined) throw new Error('no statement');
  return {
    statement: { presence: 1, ...statement, nonce: 'n', expiresAt: '2026-01-01T00:05:00.000Z' },
    rpId: 'localhost',
    origin: 'http://localhost:1',
    passkey: { name: 'laptop', publicKey: 'k', registeredAt: '2026-01-01T00:00:00.000Z' },
    assertion: { id: 'i', authenticatorData: 'a', clientDataJSON: 'c', signature: 's' },
  };
}

const ruling = (snapshot: Snapshot, one: ResolvedDecision) => decideCalls(snapshot, [one], { by, at: 1 });
const edited = { ...request('a', false), title: 'B', inputHash: 'other', basis: null };

describe('a call that demands presence', () => {
  it('the pending action names the rule, demands presence, and offers no grant', () => {
    expect(pendingActions(waiting())[0]).toMatchObject({ rule: RULE, presence: true, scopes: ['once'] });
    expect(pendingActions(waiting(false))[0]).not.toHaveProperty('presence');
  });

  it.each(['approve', 'edit'] as const)('"%s" without a proof decides nothing', (word) => {
    const task = waiting();
    const one = decision(task, { decision: word, edited: word === 'edit' ? edited : null });
    expect(ruling(task, one)).toMatchObject({ type: 'refuse', reason: 'PRESENCE_REQUIRED' });
  });

  it('the plain word "approve" decides nothing, and "deny" needs no proof', () => {
    const task = waiting();
    const said = (text: string) =>
      decisionInText(task, { messageId: 'm', parts: [{ type: 'text', text }] }, 't');
    const [yes, no] = [said('approve'), said('deny')];
    if (yes === undefined || no === undefined) throw new Error('the words are no decisions');
    expect(ruling(task, yes)).toMatchObject({ reason: 'PRESENCE_REQUIRED' });
    expect(isRefusal(ruling(task, no))).toBe(false);
  });

  it('a proof of exactly this decision approves the call, and the event keeps the proof', () => {
    const task = waiting();
    const one = decision(task);
    const presence = proofOf(task, one);
    const outcome = ruling(task, { ...one, presence });
    expect(outcome).toMatchObject([{ type: 'tool.decided', presence }, {}]);
  });

  it('a proof of another decision decides nothing: another input, reason, question or edit', () => {
    const task = waiting();
    const one = decision(task);
    const edit = decision(task, { decision: 'edit', edited });
    const other = proofOf(task, edit);
    const proof = proofOf(task, one);
    const changed = (statement: Partial<PresenceProof['statement']>): PresenceProof => ({
      ...proof,
      statement: { ...proof.statement, ...statement },
    });
    for (const presence of [
      other,
      changed({ inputHash: 'x' }),
      changed({ basis: 'x' }),
      changed({ shown: 'x' }),
      changed({ taskId: 'x' }),
      changed({ reason: 'x' }),
      changed({ asked: 'content-changed' }),
    ])
      expect(ruling(task, { ...one, presence })).toMatchObject({ reason: 'INPUT_CHANGED' });
    expect(ruling(task, { ...edit, presence: proof })).toMatchObject({ reason: 'INPUT_CHANGED' });
    expect(isRefusal(ruling(task, { ...edit, presence: other }))).toBe(false);
  });

  it('a proof creates no grant', () => {
    const task = waiting();
    const one = decision(task, { scope: 'tool' });
    expect(ruling(task, { ...one, presence: proofOf(task, one) })).toMatchObject({
      reason: 'INVALID_DECISION',
    });
  });

  it('an edit whose new input matches the rule needs a proof, and the call then counts as proven', () => {
    const task = waiting(false);
    const edit = decision(task, { decision: 'edit', edited, editPresenceRule: RULE });
    expect(ruling(task, edit)).toMatchObject({ reason: 'PRESENCE_REQUIRED' });
    const decided = eventsOf(ruling(task, { ...edit, presence: proofOf(task, edit) }));
    expect(findCall(foldNextEvents(task, decided), 'a')).toMatchObject({ presence: true, title: 'B' });
  });
});
