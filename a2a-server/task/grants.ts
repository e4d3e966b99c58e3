/**
 * Manages grants. A grant is a decision that also covers later tool calls. Such calls run without a new decision. A
 * grant ends after its time, after its last use, or when a person revokes it. Pure.
 *
 * - The policy checks the grant when the model requests a call. The call may run later. If a person revokes the grant
 *   before the call starts, the call waits for a decision.
 * - Each allowed call names its grant, so the journal counts the uses. The call whose decision created the grant is not
 *   a use.
 */
import type { DecisionScope, GrantLimits, ToolSource } from '../../shared/protocol/tool-approval.ts';
import { delegators, type ApproverDemand } from './approver.ts';
import type { Decider, JournalEntry, TaskEvent, PolicyVerdict } from './events.ts';
import type { Call, Snapshot } from './snapshot.ts';

export interface Grant {
  /**
   * The id of the grant, unique within the task. It is computed from the `seq` of the decision and is not stored in
   * that event. So the grants of old journals also have an id.
   */
  grantId: string;
  scope: Exclude<DecisionScope, 'once'>;
  callId: string;
  tool: string;
  source: ToolSource;
  by: Decider;
  /** The time of the decision, in milliseconds since 1970. */
  at: number;
  /** The end of the grant in milliseconds since 1970. Null if the grant ends with the task. */
  expiresAt: number | null;
  /** The number of further calls that the grant can allow. Null means no limit. */
  usesLeft: number | null;
}

type DecidedEvent = Extract<TaskEvent, { type: 'tool.decided' }>;

const MINUTE_MS = 60_000;

export function grantsGivenBy(event: DecidedEvent, call: Call, { seq, at }: JournalEntry): Grant[] {
  if (event.scope === 'once') return [];
  const { minutes, uses }: GrantLimits = event.grant ?? {};
  return [
    {
      grantId: `g${seq}`,
      scope: event.scope,
      callId: call.callId,
      tool: call.tool,
      source: call.source,
      by: event.by,
      at,
      expiresAt: minutes === undefined ? null : at + minutes * MINUTE_MS,
      usesLeft: uses ?? null,
    },
  ];
}

/**
 * Returns the grants that have not expired at `now` (milliseconds since 1970). The snapshot contains no used-up grants.
 */
export function unexpiredGrants(grants: readonly Grant[], now: number): Grant[] {
  return grants.filter(({ expiresAt }) => expiresAt === null || now < expiresAt);
}

/**
 * Returns the grants that may allow a tool call now. If the server demands `fourEyes`, the grants of people who have
 * sent the task a message are left out.
 * @param now milliseconds since 1970
 * @param approver what the server demands of the approver of each call
 */
export function usableGrants(
  snapshot: Pick<Snapshot, 'grants' | 'principal' | 'otherSenders'>,
  { now, approver }: { now: number; approver: ApproverDemand | undefined },
): Grant[] {
  const unexpired = unexpiredGrants(snapshot.grants, now);
  if (approver?.fourEyes !== true) return unexpired;
  const senders = delegators(snapshot);
  return unexpired.filter(({ by }) => !senders.includes(by.principal));
}

/** Returns the id of the grant that allowed a tool call. Null if no grant did, or if an old journal lacks the id. */
export function allowingGrantId(verdict: PolicyVerdict): string | null {
  return verdict.type === 'allow' && verdict.because.type === 'grant'
    ? (verdict.because.grantId ?? null)
    : null;
}

/** Returns the grants after a verdict. If a grant allowed the tool call, the grant has one use less. */
export function grantsAfterUse(grants: readonly Grant[], verdict: PolicyVerdict): readonly Grant[] {
  const used = allowingGrantId(verdict);
  if (used === null) return grants;
  return grants
    .map((grant) =>
      grant.grantId === used && grant.usesLeft !== null ? { ...grant, usesLeft: grant.usesLeft - 1 } : grant,
    )
    .filter(({ usesLeft }) => usesLeft === null || usesLeft > 0);
}

/** Removes grants. A call that a removed grant allowed waits for a decision if it has not started. */
export function foldRevokedGrants(
  { grants, calls }: Snapshot,
  revoked: readonly string[],
): Pick<Snapshot, 'grants' | 'calls'> {
  const gone = new Set(revoked);
  const asked = Object.values(calls).filter(
    ({ grantId, state, decided }) =>
      grantId !== null && gone.has(grantId) && state.type === 'ready' && decided === null,
  );
  return {
    grants: grants.filter(({ grantId }) => !gone.has(grantId)),
    calls: {
      ...calls,
      ...Object.fromEntries(
        asked.map((call) => [
          call.callId,
          { ...call, state: { type: 'waiting', reason: 'approval' } as const },
        ]),
      ),
    },
  };
}
