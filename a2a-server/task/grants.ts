/**
 * Grants: a person's decision may also cover later calls. Pure. Covered calls run without asking, until the grant's time is
 * over, its uses are spent, or someone revokes it.
 *
 * - Policy checks the grant when the call is requested. The call may run later, after other calls of the turn. If the grant
 *   is revoked meanwhile, the calls that it allowed and that have not started wait for a decision again.
 * - The journal counts the uses: each allowed call names its grant. The call of the decision itself is not a use.
 */
import type { DecisionScope, GrantLimits, ToolSource } from '../../shared/protocol/tool-approval.ts';
import type { Decider, JournalEntry, TaskEvent, PolicyVerdict } from './events.ts';
import type { Call, Snapshot } from './snapshot.ts';

export interface Grant {
  /** Unique within the task. It follows from the journal position of the decision, so old grants have an id too. */
  grantId: string;
  scope: Exclude<DecisionScope, 'once'>;
  /** The call of the decision that gave this grant. */
  callId: string;
  tool: string;
  source: ToolSource;
  by: Decider;
  /** In milliseconds since the epoch, like `expiresAt`. */
  at: number;
  /** Null if the grant lasts as long as the task. */
  expiresAt: number | null;
  /** Null if the number of uses has no limit. */
  usesLeft: number | null;
}

type Decided = Extract<TaskEvent, { type: 'tool.decided' }>;

const MINUTE_MS = 60_000;

/** The grant of a decision, if it gives one. */
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

/** The grants that have not expired at `now`. The snapshot does not contain spent grants. */
export function unexpiredGrants(grants: readonly Grant[], now: number): Grant[] {
  return grants.filter(({ expiresAt }) => expiresAt === null || now < expiresAt);
}

/** The id of the grant that allowed a call, if any. Old journals have no grant id, only the id of the decided call. */
export function grantIdOf(verdict: PolicyVerdict): string | null {
  return verdict.type === 'allow' && verdict.because.type === 'grant'
    ? (verdict.because.grantId ?? null)
    : null;
}

/** The grants after a verdict. If a grant allowed the call, one of its uses is spent. */
export function grantsAfterUse(grants: readonly Grant[], verdict: PolicyVerdict): readonly Grant[] {
  const used = grantIdOf(verdict);
  if (used === null) return grants;
  return grants
    .map((grant) =>
      grant.grantId === used && grant.usesLeft !== null ? { ...grant, usesLeft: grant.usesLeft - 1 } : grant,
    )
    .filter(({ usesLeft }) => usesLeft === null || usesLeft > 0);
}

/** Removes grants. Calls that they allowed and that have not started wait for a decision again. */
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
