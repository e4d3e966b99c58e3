/**
 * Grants: the trust a person gives with a decision. Pure. Later calls within a grant's reach are not asked for, until its
 * time is over, its uses are spent, or somebody takes it back.
 *
 * - A grant counts when a call is put before policy. What it let run then may wait for other calls of the turn and run
 *   later; taken back, it takes back also what it has let run and what has not started.
 * - Uses are counted by the journal: each call that a grant let run says so. The call that was decided is none of them.
 */
import type { DecisionScope, GrantLimits, ToolSource } from '../../shared/protocol/tool-approval.ts';
import type { Decider, JournalEntry, TaskEvent, Verdict } from './events.ts';
import type { Call, Snapshot } from './snapshot.ts';

export interface Grant {
  /** Unique within the task; follows from the place of its decision in the journal, so that old ones have one too. */
  grantId: string;
  scope: Exclude<DecisionScope, 'once'>;
  /** The call it was given with. */
  callId: string;
  tool: string;
  source: ToolSource;
  by: Decider;
  /** In milliseconds since the epoch, as `expiresAt`. */
  at: number;
  /** Null for as long as the task lasts. */
  expiresAt: number | null;
  /** Null for as many as it takes. */
  usesLeft: number | null;
}

type Decided = Extract<TaskEvent, { type: 'tool.decided' }>;

const MINUTE_MS = 60_000;

/** The grant that a decision gives, if it gives one. */
export function givenWith(event: Decided, call: Call, { seq, at }: JournalEntry): Grant[] {
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

/** Those that still count at a moment. Spent ones are gone from the snapshot. */
export function standing(grants: readonly Grant[], now: number): Grant[] {
  return grants.filter(({ expiresAt }) => expiresAt === null || now < expiresAt);
}

/** The grant that let a call run, if one did. Before grants had ids, journals named the call they were given with alone. */
export function grantBehind(verdict: Verdict): string | null {
  return verdict.type === 'allow' && verdict.because.type === 'grant'
    ? (verdict.because.grantId ?? null)
    : null;
}

/** The grants after a call has been put before policy. */
export function afterUse(grants: readonly Grant[], verdict: Verdict): readonly Grant[] {
  const used = grantBehind(verdict);
  if (used === null) return grants;
  return grants
    .map((grant) =>
      grant.grantId === used && grant.usesLeft !== null ? { ...grant, usesLeft: grant.usesLeft - 1 } : grant,
    )
    .filter(({ usesLeft }) => usesLeft === null || usesLeft > 0);
}

/** The task without these grants: what they let run and has not started waits for a decision. */
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
