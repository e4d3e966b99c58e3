/**
 * Grants: a person's decision may also cover later calls. Pure. Covered calls run without asking, until the grant's
 * time or its uses are over, or until a person revokes the grant.
 *
 * - Policy checks the grant at the request of a call. The call may run later, after other calls of the turn. If a
 *   person revokes the grant before the call starts, the call waits for a decision again.
 * - The journal counts the uses, because each allowed call names its grant. The decided call itself is not a use.
 */
import type { DecisionScope, GrantLimits, ToolSource } from '../../shared/protocol/tool-approval.ts';
import type { Decider, JournalEntry, TaskEvent, PolicyVerdict } from './events.ts';
import type { Call, Snapshot } from './snapshot.ts';

export interface Grant {
  /**
   * The id, unique within the task. It follows from the journal position of the decision, so grants of old journals
   * have an id too.
   */
  grantId: string;
  scope: Exclude<DecisionScope, 'once'>;
  /** The call whose decision created this grant. */
  callId: string;
  tool: string;
  source: ToolSource;
  by: Decider;
  /** The time of the decision, in milliseconds since the epoch. `expiresAt` has the same unit. */
  at: number;
  /** The time of the grant's end. Null if the grant ends with the task. */
  expiresAt: number | null;
  /** The number of calls that the grant can still allow. Null means no limit. */
  usesLeft: number | null;
}

type Decided = Extract<TaskEvent, { type: 'tool.decided' }>;

const MINUTE_MS = 60_000;

/** Returns the grants that a decision creates. */
export function grantsGivenBy(event: Decided, call: Call, { seq, at }: JournalEntry): Grant[] {
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

/** Returns the grants that have not expired at `now`. The snapshot contains no spent grants. */
export function unexpiredGrants(grants: readonly Grant[], now: number): Grant[] {
  return grants.filter(({ expiresAt }) => expiresAt === null || now < expiresAt);
}

/** Returns the id of the grant that allowed a call, if any. Old journals have only the id of the decided call. */
export function allowingGrantId(verdict: PolicyVerdict): string | null {
  return verdict.type === 'allow' && verdict.because.type === 'grant'
    ? (verdict.because.grantId ?? null)
    : null;
}

/** Returns the grants after a verdict. If a grant allowed the call, its number of uses left decreases by one. */
export function grantsAfterUse(grants: readonly Grant[], verdict: PolicyVerdict): readonly Grant[] {
  const used = allowingGrantId(verdict);
  if (used === null) return grants;
  return grants
    .map((grant) =>
      grant.grantId === used && grant.usesLeft !== null ? { ...grant, usesLeft: grant.usesLeft - 1 } : grant,
    )
    .filter(({ usesLeft }) => usesLeft === null || usesLeft > 0);
}

/** Removes grants. If they allowed calls that have not started, these calls wait for a decision again. */
export function withoutGrants(
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
