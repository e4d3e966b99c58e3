/** `approve` and `deny`: shows what waits, asks, and sends the decision on exactly what was shown (D2). */
import { verdictOf, type McpDecisionWord } from '../../approvals/decision-words.ts';
import { decisionScope } from '../../../shared/protocol/tool-approval.ts';
import { actionText } from '../action-text.ts';
import { agreed } from '../agreed.ts';
import { openDesk } from '../desk.ts';
import { EXIT_FAILURE, UsageError } from '../exit-codes.ts';
import { callsMeant, sessionMeant } from '../meant.ts';
import { reportDecision } from '../report-decision.ts';
import type { CommonOptions, Run } from '../run.ts';
import { sendVerdicts } from '../send-verdicts.ts';

export interface DecideOptions extends CommonOptions {
  all?: boolean;
  yes?: boolean;
  reason?: string;
  scope?: string;
  /** How long trust lasts, as typed. */
  minutes?: string;
  uses?: string;
  /** Decides only what has this hash. */
  inputHash?: string;
}

const APPROVALS: Readonly<Record<string, McpDecisionWord>> = {
  once: 'approve',
  tool: 'trust_tool',
  server: 'trust_server',
  always: 'trust_always',
};

/** @throws ProductError; UsageError where nobody can be asked */
export async function decide(
  run: Run<DecideOptions>,
  word: 'approve' | 'deny',
  given: { session: string; call: string | undefined },
): Promise<number> {
  const { options, terminal } = run;
  const decision = word === 'approve' ? approvalOf(options.scope) : word;
  const limits = limitsIn(options);
  const desk = await openDesk(run);
  const session = await sessionMeant(desk.sessions, given.session);
  await session.refresh();
  const calls = callsMeant(session.view, given.call, options.all === true);
  for (const { action } of calls)
    if (action !== undefined && options.json !== true)
      terminal.say(`${actionText(action, terminal.paint)}\n`);
  const what = calls.length === 1 ? '' : ` all ${String(calls.length)}`;
  if (!(await agreed(terminal, options, `${word === 'approve' ? 'Approve' : 'Deny'}${what}?`))) {
    terminal.say('Nothing was decided.');
    return EXIT_FAILURE;
  }
  const verdicts = calls.map(({ callId, action }) =>
    verdictOf(
      { callId, decision, ...limits, ...(options.reason === undefined ? {} : { reason: options.reason }) },
      () => options.inputHash ?? action?.inputHash,
    ),
  );
  await sendVerdicts(session, verdicts);
  reportDecision(
    run,
    session,
    calls.map(({ callId }) => ({ callId, decision: word })),
  );
  await desk.close();
  return 0;
}

/** @throws UsageError */
function limitsIn({ minutes, uses, scope = 'once' }: DecideOptions): {
  trustMinutes?: number;
  trustUses?: number;
} {
  if ((minutes !== undefined || uses !== undefined) && scope === 'once')
    throw new UsageError('--minutes and --uses limit a trust: they go with --scope tool, server or always.');
  return {
    ...(minutes === undefined ? {} : { trustMinutes: positive('--minutes', minutes) }),
    ...(uses === undefined ? {} : { trustUses: positive('--uses', uses) }),
  };
}

function positive(flag: string, given: string): number {
  if (!/^[1-9]\d{0,4}$/.test(given))
    throw new UsageError(`${flag} takes a whole number from 1 to 99999; "${given}" is none.`);
  return Number(given);
}

function approvalOf(scope = 'once'): McpDecisionWord {
  const word = Object.hasOwn(APPROVALS, scope) ? APPROVALS[scope] : undefined;
  if (word === undefined)
    throw new UsageError(
      `There is no scope "${scope}". The scopes are: ${decisionScope.options.join(', ')}.`,
    );
  return word;
}
