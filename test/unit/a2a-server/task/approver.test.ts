/** Tests who may approve a call: no delegator, and a member of a group. */
import { describe, expect, test } from '@jest/globals';
import { eventsOf } from '../../../support/folded-task.ts';
import fc from 'fast-check';
import { acceptMessage } from '../../../../a2a-server/task/accept-message.ts';
import {
  coversApproverDemand,
  resolveApproverDemand,
  meetsApproverDemand,
  mergeApproverDemands,
  metApproverDemand,
  type ApproverDemand,
} from '../../../../a2a-server/task/approver.ts';
import { decideCalls, type ResolvedDecision } from '../../../../a2a-server/task/decide.ts';
import { foldNextEvents } from '../../../../a2a-server/task/fold.ts';
import { usableGrants } from '../../../../a2a-server/task/grants.ts';
import { pendingActions } from '../../../../a2a-server/task/pending.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { parkedTask, taskAfter, turnEventsWith } from '../../../support/folded-task.ts';
import { request } from '../../../support/task-machine.ts';

const RULE = 'rule 1 (ask: tool "*"; approver: four eyes, group release)';
const BOTH: ApproverDemand = { fourEyes: true, groups: ['release'] };

/** Returns a task of ada whose call `a` waits under this demand. */
function waiting(approver?: ApproverDemand, sender?: string): Snapshot {
  const [started, ...rest] = turnEventsWith([{ call: request('a', false), ask: true }]);
  const message = { messageId: 'm-2', parts: [{ type: 'text' as const, text: 'and then?' }] };
  return parkedTask(
    taskAfter(
      ...(started ? [started] : []),
      ...(sender === undefined
        ? []
        : [{ type: 'message.received' as const, message, channel: 'a2a', by: sender }]),
      ...rest.map((event) =>
        event.type === 'tool.requested' && approver
          ? { ...event, verdict: { type: 'ask', rule: RULE, approver } as const }
          : event,
      ),
    ),
  );
}

function decision(task: Snapshot, more: Partial<ResolvedDecision> = {}): ResolvedDecision {
  const shown = pendingActions(task)[0]?.shown ?? null;
  const decided = more.decision ?? 'approve';
  const { title, input, preview } = request('a', false);
  const edited = decided === 'edit' ? { title, input, inputHash: 'other', preview, basis: null } : null;
  return { callId: 'a', decision: decided, scope: 'once', reason: null, shown, edited, ...more };
}

const by = (principal: string, ...groups: string[]) => ({ principal, channel: 'form', groups });
const REFUSED = { type: 'refuse', reason: 'OTHER_APPROVER_REQUIRED' };

describe('a call that demands an approver', () => {
  test.each([
    { demand: { fourEyes: true }, who: by('ada', 'release'), accepted: false },
    { demand: { fourEyes: true }, who: by('bob'), accepted: false },
    { demand: { fourEyes: true }, who: by('cleo'), accepted: true },
    { demand: { groups: ['release'] }, who: by('ada'), accepted: false },
    { demand: { groups: ['release'] }, who: by('ada', 'release'), accepted: true },
    { demand: { groups: ['release'] }, who: { principal: 'local', channel: 'cli' }, accepted: false },
    { demand: { groups: ['release'] }, who: by('cleo', 'Release', 'releas', 'release '), accepted: false },
    { demand: { groups: ['release', 'security'] }, who: by('cleo', 'release'), accepted: false },
    { demand: { groups: ['release', 'security'] }, who: by('cleo', 'security', 'release'), accepted: true },
    { demand: BOTH, who: by('ada', 'release'), accepted: false },
    { demand: BOTH, who: by('cleo'), accepted: false },
    { demand: BOTH, who: by('cleo', 'release'), accepted: true },
  ] satisfies { demand: ApproverDemand; who: ReturnType<typeof by> | object; accepted: boolean }[])(
    'X1 under $demand, an approval and an edit of $who are accepted: $accepted',
    ({ demand, who, accepted }) => {
      const task = waiting(demand, 'bob');
      for (const word of ['approve', 'edit'] as const)
        expect(decideCalls(task, [decision(task, { decision: word })], { by: who, at: 1 })).toMatchObject(
          accepted ? [{ type: 'tool.decided' }, { type: 'task.working' }] : REFUSED,
        );
    },
  );

  test('X1 a decision that another version has accepted meets only what the journal shows', () => {
    const task = waiting(BOTH);
    const decided = eventsOf(decideCalls(task, [decision(task)], { by: by('cleo', 'release'), at: 1 }));
    const metAfter = (events: readonly TaskEvent[]) => {
      const after = foldNextEvents(task, events);
      return after.calls['a'] && metApproverDemand(after, after.calls['a']);
    };
    expect(metAfter(decided)).toEqual(BOTH);
    const unchecked = (principal: string) =>
      decided.map((event) => {
        if (event.type !== 'tool.decided') return event;
        const { approver: _, ...rest } = event;
        return { ...rest, by: { ...rest.by, principal } };
      });
    expect(metAfter(unchecked('cleo'))).toEqual({ fourEyes: true });
    expect(metAfter(unchecked('ada'))).toBeUndefined();
  });

  test('a person who may not approve may still deny', () => {
    const task = waiting(BOTH);
    expect(decideCalls(task, [decision(task, { decision: 'deny' })], { by: by('ada'), at: 1 })).toMatchObject(
      [expect.not.objectContaining({ approver: BOTH }), {}],
    );
  });

  test('the refusal says what the person lacks, and who can', () => {
    const task = { ...waiting(BOTH), principal: 'acme/ann' };
    expect(decideCalls(task, [decision(task)], { by: by('acme/ann', 'docs'), at: 1 })).toMatchObject({
      message: expect.stringContaining(
        'needs the approval of somebody else, in group release: acme/ann sent this task a message, and is not in group release. The policy of this server demands it. Any other principal of the tenant acme with the role approve and in group release can, except acme/ann.',
      ),
      facts: { callId: 'a', delegators: 'acme/ann', groups: 'release' },
    });
    const alone = waiting({ groups: ['release'] });
    expect(decideCalls(alone, [decision(alone)], { by: by('ada'), at: 1 })).toMatchObject({
      message: expect.stringContaining(
        'ada is not in group release. The policy of this server demands it. A token with the role approve and in group release can, of ada.',
      ),
    });
  });

  test('X1 one refused approval refuses the whole message', () => {
    const task = waiting(BOTH);
    const both = [decision(task), decision(task, { callId: 'other' })];
    expect(decideCalls(task, both, { by: by('ada'), at: 1 })).toMatchObject(REFUSED);
  });

  test('X1 the demand of the server and of an edited input count as well', () => {
    const task = waiting();
    for (const word of ['approve', 'edit'] as const)
      expect(
        decideCalls(task, [decision(task, { decision: word, approver: BOTH })], { by: by('cleo'), at: 1 }),
      ).toMatchObject(REFUSED);
    const edit = decision(task, { decision: 'edit', approver: BOTH });
    const decided = eventsOf(decideCalls(task, [edit], { by: by('cleo', 'release'), at: 1 }));
    expect(decided[0]).toMatchObject({ approver: BOTH, by: { principal: 'cleo', channel: 'form' } });
    expect(decided[0]).not.toHaveProperty('by.groups');
    // The call keeps the demand, so a second run after a crash needs such an approver too.
    expect(foldNextEvents(task, decided).calls['a']).toMatchObject({ approver: BOTH });
  });

  test('the pending action says who may approve', () => {
    expect(pendingActions(waiting(BOTH, 'bob'))).toMatchObject([
      { rule: RULE, approver: { otherThan: ['ada', 'bob'], groups: ['release'] } },
    ]);
    expect(pendingActions(waiting())[0]).not.toHaveProperty('approver');
  });

  test('the own messages of the principal name no other sender, and those of another do', () => {
    const [started] = turnEventsWith([]);
    const running = taskAfter(started ?? { type: 'task.working' });
    const message = { messageId: 'm-2', parts: [{ type: 'text' as const, text: 'and then?' }] };
    const accepted = (principal: string) =>
      acceptMessage(running, message, { principal, channel: 'a2a', wordsDecide: false });
    expect(accepted('bob')).toMatchObject([{ by: 'bob' }]);
    expect(JSON.stringify(accepted('ada'))).not.toContain('"by"');
  });

  test('X1 with four eyes, the grant of a principal who sent the task a message covers nothing', () => {
    const task = waiting(undefined, 'bob');
    const grants = ['ada', 'bob', 'cleo'].map((principal) => ({
      grantId: principal,
      scope: 'always' as const,
      callId: 'a',
      tool: 'write-file',
      source: { type: 'built-in' as const },
      by: { principal, channel: 'form' },
      at: 0,
      expiresAt: null,
      usesLeft: null,
    }));
    const ids = (approver?: ApproverDemand) =>
      usableGrants({ ...task, grants }, { now: 1, approver }).map(({ grantId }) => grantId);
    expect(ids({ fourEyes: true })).toEqual(['cleo']);
    expect(ids()).toEqual(['ada', 'bob', 'cleo']);
  });
});

describe('demands', () => {
  const names = fc.subarray(['release', 'security', 'docs']);
  const demands = fc.record(
    { fourEyes: fc.constant(true as const), groups: names.filter((each) => each.length > 0) },
    { requiredKeys: [] },
  );
  const people = fc.record({ principal: fc.constantFrom('ada', 'bob', 'cleo'), groups: names });
  const task = { principal: 'ada', otherSenders: ['bob'] };
  const meets = (who: { principal: string; groups: string[] }, demand: ApproverDemand | undefined) =>
    demand === undefined || meetsApproverDemand(resolveApproverDemand(task, demand), who);

  test('X1 a person meets merged demands exactly if the person meets each of them', () => {
    fc.assert(
      fc.property(fc.array(demands, { maxLength: 3 }), people, (all, who) => {
        expect(meets(who, mergeApproverDemands(...all))).toBe(all.every((each) => meets(who, each)));
      }),
    );
  });

  test('X1 whoever meets a demand that covers another one meets that one too', () => {
    fc.assert(
      fc.property(demands, demands, people, (met, demand, who) => {
        if (coversApproverDemand(met, demand) && meets(who, met)) expect(meets(who, demand)).toBe(true);
        expect(coversApproverDemand(mergeApproverDemands(met, demand), demand)).toBe(true);
      }),
    );
  });
});
