import { describe, expect, it } from '@jest/globals';
import { isRefusal } from '../../../../a2a-server/task/command-outcome.ts';
import { eventsOf } from '../../../support/folded-task.ts';
import fc from 'fast-check';
import type { GrantLimits } from '../../../../shared/protocol/tool-approval.ts';
import { NO_RESOLVED_TARGETS } from '../../../../a2a-server/policy/call-facts.ts';
import { decideVerdict } from '../../../../a2a-server/policy/verdict.ts';
import { decideCalls } from '../../../../a2a-server/task/decide.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import { firstSnapshot, foldEntry } from '../../../../a2a-server/task/fold.ts';
import { unexpiredGrants } from '../../../../a2a-server/task/grants.ts';
import { parkOrContinue, pendingActions } from '../../../../a2a-server/task/pending.ts';
import { revokeGrants } from '../../../../a2a-server/task/revoke.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { request } from '../../../support/task-machine.ts';
import { decidedEvent } from '../../../support/folded-task.ts';

const by = { principal: 'ada', channel: 'test' };
const START = Date.UTC(2026, 0, 2);
const MINUTE = 60_000;

/** A task on the pure core, with its own clock. */
class Task {
  now = START;
  snapshot: Snapshot;
  #calls = 0;

  constructor() {
    const event = { type: 'task.created', sessionId: 's', principal: 'ada', settings: {} } as const;
    const start = firstSnapshot('t', { seq: 1, at: START, event });
    if (start === undefined) throw new Error('no task');
    this.snapshot = start;
  }

  append(...events: readonly TaskEvent[]): void {
    for (const event of events)
      this.snapshot = foldEntry(this.snapshot, { seq: this.snapshot.seq + 1, at: this.now, event });
  }

  /**
   * Lets the model request a call, with the policy's verdict as in the executor.
   * @returns the call's state
   */
  asks(): { callId: string; verdict: string; grantId: string | null } {
    const callId = `c${(this.#calls += 1)}`;
    const call = request(callId, false);
    const grants = unexpiredGrants(this.snapshot.grants, this.now);
    const said = decideVerdict({ ...call, reach: NO_RESOLVED_TARGETS }, { settings: {}, grants });
    this.append({ type: 'tool.requested', turn: 1, call, verdict: said });
    return { callId, verdict: said.type, grantId: this.snapshot.calls[callId]?.grantId ?? null };
  }

  approves(callId: string, grant?: GrantLimits, scope: 'tool' | 'always' = 'tool'): void {
    const decision = {
      callId,
      decision: 'approve',
      scope,
      grant,
      reason: null,
      shown: pendingActions(this.snapshot).find((action) => action.callId === callId)?.shown ?? null,
      edited: null,
    } as const;
    this.append(...eventsOf(decideCalls(this.snapshot, [decision], { by, at: this.now })));
  }

  /**
   * Gives a task one trust grant.
   * @returns the grant's id
   */
  trusting(grant?: GrantLimits): string {
    this.approves(this.asks().callId, grant);
    return this.snapshot.grants.at(-1)?.grantId ?? '';
  }
}

describe('a trust grant', () => {
  it('R12 a grant without a limit lasts as long as its task, and names the person who gave it', () => {
    const task = new Task();
    const grantId = task.trusting();
    task.now += 1000 * 24 * 60 * MINUTE;
    expect(task.asks()).toMatchObject({ verdict: 'allow', grantId });
    expect(task.snapshot.grants).toMatchObject([
      { grantId, scope: 'tool', tool: 'write-file', by, at: START, expiresAt: null, usesLeft: null },
    ]);
  });

  it('R12 a grant of ten minutes allows calls within that time, and none after', () => {
    const task = new Task();
    task.trusting({ minutes: 10 });
    task.now += 10 * MINUTE - 1;
    expect(task.asks().verdict).toBe('allow');
    task.now += 1;
    expect(task.asks().verdict).toBe('ask');
  });

  it('R12 a grant of two uses allows two later calls, also in one turn, and then ends', () => {
    const task = new Task();
    task.trusting({ uses: 2 });
    expect([task.asks(), task.asks(), task.asks()].map((call) => call.verdict)).toEqual([
      'allow',
      'allow',
      'ask',
    ]);
    expect(task.snapshot.grants).toEqual([]);
  });

  it('a grant of an old journal, without id or limits, is still valid', () => {
    const task = new Task();
    const { callId } = task.asks();
    task.append(decidedEvent(callId, { scope: 'always' }), {
      type: 'tool.requested',
      turn: 1,
      call: request('old', false),
      verdict: { type: 'allow', because: { type: 'grant', scope: 'always', callId } },
    });
    expect(task.snapshot.calls['old']?.state.type).toBe('ready');
    expect(task.snapshot.grants).toMatchObject([{ grantId: 'g3', scope: 'always', usesLeft: null }]);
    expect(task.asks().verdict).toBe('allow');
  });
});

describe('revoke, which ends a trust grant', () => {
  it('revoke ends the grant, and the calls that it allowed and that have not started wait for a decision', () => {
    const task = new Task();
    const grantId = task.trusting();
    const { callId } = task.asks();
    const other = task.asks();
    task.append({ type: 'tool.started', callId: other.callId, tool: 'w', title: 'W', toolId: 'x' });
    const ruling = revokeGrants(task.snapshot, [grantId], { by, at: task.now });
    // No event makes the task wait here, because its execution does that at the end of the turn.
    expect(ruling).toEqual([{ type: 'grant.revoked', grantIds: [grantId], by }]);
    task.append(...eventsOf(ruling));
    expect(task.snapshot.calls[callId]?.state).toEqual({ type: 'waiting', reason: 'approval' });
    expect(task.snapshot.calls[other.callId]?.state.type).toBe('running');
    expect(task.snapshot.grants).toEqual([]);
    expect(task.asks().verdict).toBe('ask');
  });

  it('revoke adds the calls to the pending actions if the task already waits', () => {
    const task = new Task();
    const grantId = task.trusting({ uses: 1 });
    const [allowed, asked] = [task.asks(), task.asks()];
    task.append(parkOrContinue(task.snapshot));
    // A grant without remaining uses has ended, so a person cannot revoke it.
    expect(revokeGrants(task.snapshot, [grantId], { by, at: task.now })).toMatchObject({
      reason: 'UNKNOWN_GRANT',
    });
    expect([allowed.verdict, asked.verdict]).toEqual(['allow', 'ask']);
    const second = new Task();
    const wide = second.trusting();
    const ready = second.asks();
    second.append({ type: 'tool.requested', turn: 1, call: request('w', false), verdict: { type: 'ask' } });
    second.append(parkOrContinue(second.snapshot));
    const ruling = revokeGrants(second.snapshot, 'all', { by, at: second.now });
    expect(ruling).toMatchObject([
      { type: 'grant.revoked', grantIds: [wide] },
      { type: 'input.required', pending: [{ callId: ready.callId }, { callId: 'w' }] },
    ]);
  });

  it('revoke changes no decision: a call that a person approved runs', () => {
    const task = new Task();
    const { callId } = task.asks();
    task.approves(callId);
    task.append(...eventsOf(revokeGrants(task.snapshot, 'all', { by, at: task.now })));
    expect(task.snapshot.calls[callId]?.state.type).toBe('ready');
  });

  it('revoke refuses an unknown or ended grant, and the error lists the valid grants', () => {
    const task = new Task();
    expect(revokeGrants(task.snapshot, 'all', { by, at: task.now })).toMatchObject({
      reason: 'UNKNOWN_GRANT',
      message: expect.stringMatching(/ has no grants\. Nothing was changed\.$/),
    });
    const grantId = task.trusting({ minutes: 1 });
    expect(revokeGrants(task.snapshot, [grantId, 'g99'], { by, at: task.now })).toMatchObject({
      type: 'refuse',
      reason: 'UNKNOWN_GRANT',
      message: expect.stringMatching(`no grant g99.*Grants in force: ${grantId}\\.`),
      facts: { grants: grantId },
    });
    task.now += MINUTE;
    expect(revokeGrants(task.snapshot, [grantId], { by, at: task.now })).toMatchObject({
      facts: { grants: '' },
    });
    task.append({ type: 'task.completed' });
    expect(revokeGrants(task.snapshot, 'all', { by, at: task.now })).toMatchObject({ reason: 'TASK_ENDED' });
  });
});

describe('trust grants, for any order of events', () => {
  const limits = fc.record(
    { minutes: fc.integer({ min: 1, max: 20 }), uses: fc.integer({ min: 1, max: 4 }) },
    { requiredKeys: [] },
  );
  const moves = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constant({ type: 'call' as const }) },
      { weight: 2, arbitrary: fc.record({ type: fc.constant('trust' as const), limits }) },
      { weight: 2, arbitrary: fc.record({ type: fc.constant('wait' as const), minutes: fc.nat(15) }) },
      { weight: 1, arbitrary: fc.record({ type: fc.constant('revoke' as const), pick: fc.nat(5) }) },
    ),
    { maxLength: 40 },
  );

  it('R12 no grant exceeds its limits, and each call that ran without a question had a valid grant', () => {
    fc.assert(
      fc.property(moves, (list) => {
        const task = new Task();
        const given = new Map<string, { until: number; uses: number }>();
        const allows = (id: string | null): boolean => {
          const grant = given.get(id ?? '');
          return grant !== undefined && task.now < grant.until && grant.uses > 0;
        };
        for (const move of list)
          switch (move.type) {
            case 'wait':
              task.now += move.minutes * MINUTE;
              break;
            case 'revoke': {
              const ids = [...given.keys()];
              const grantId = ids[move.pick % Math.max(ids.length, 1)] ?? 'none';
              const ruling = revokeGrants(task.snapshot, [grantId], { by, at: task.now });
              expect(isRefusal(ruling)).toBe(!allows(grantId));
              if (!isRefusal(ruling)) task.append(...ruling);
              given.delete(grantId);
              break;
            }
            case 'trust':
            case 'call': {
              const some = [...given.keys()].some(allows);
              const call = task.asks();
              expect(call.verdict).toBe(some ? 'allow' : 'ask');
              const used = given.get(call.grantId ?? '');
              if (call.verdict === 'allow') expect(allows(call.grantId)).toBe(true);
              if (used) used.uses -= 1;
              if (move.type === 'call' || call.verdict === 'allow') break;
              const { minutes, uses } = move.limits;
              task.approves(
                call.callId,
                minutes === undefined && uses === undefined ? undefined : move.limits,
              );
              given.set(task.snapshot.grants.at(-1)?.grantId ?? '', {
                until: minutes === undefined ? Infinity : task.now + minutes * MINUTE,
                uses: uses ?? Infinity,
              });
            }
          }
      }),
    );
  });
});
