/** Gives a message, decisions or a revocation to a task that already exists. */
import { requireOwnerOrRole } from '../../access/requester.ts';
import { dailyLimitError } from '../../limits/daily-writing.ts';
import { acceptMessage } from '../../task/accept-message.ts';
import {
  isRefusal,
  type CommandOutcome,
  type CommandRefusal,
  type TaskRule,
} from '../../task/command-outcome.ts';
import type { ResolvedDecision } from '../../task/decide.ts';
import { generationMismatchRefusal } from '../../task/generation.ts';
import { revokeGrants } from '../../task/revoke.ts';
import type { Snapshot } from '../../task/snapshot.ts';
import { decisionInText } from '../../task/text-decision.ts';
import { requireSnapshot } from '../queries/task-lookup.ts';
import { acceptRepeated, type AcceptedMessage } from './accepted-message.ts';
import { commandKeyOf, isDecisionOrRevocation, type ClientMessage } from './client-message.ts';
import {
  pickRequesterGroups,
  requireAppliedCommand,
  toCommandRefusal,
  toDecider,
  toProductError,
} from './command-result.ts';
import { findReachedDailyWritingLimit } from './find-reached-daily-writing-limit.ts';
import { askAgainAndRefuse, judgeDecisions } from './judge-decisions.ts';
import type { MessageContext } from './message-context.ts';
import { differentSettingsRefusal, differingSettings } from './new-task-settings.ts';
import { refuseLongMessage } from './refuse-long-message.ts';
import { refuseUnsupportedFiles } from './refuse-unsupported-files.ts';
import { resolveDecisions } from './resolve-decisions.ts';

/** The refusal for a sender who may only decide, if its text is not a decision on a pending action. */
export const ONLY_DECISIONS: CommandRefusal = {
  type: 'refuse',
  reason: 'FORBIDDEN',
  message:
    'Your token may decide and not delegate. So your text can only be "approve" or "deny", for the one action that waits in the task that you name. Nothing was changed.',
};

/**
 * The results of the checks that need I/O. These checks run before the rule that computes the events, because that
 * rule must not wait.
 */
interface CheckedMessage {
  /** The decisions of the message. Absent if the message decides nothing. */
  decisions: readonly ResolvedDecision[] | undefined;
  /**
   * The refusal because a daily limit of written data is reached. Undefined if no limit is reached. This refusal does
   * not apply to a text that is a decision.
   */
  overLimit: CommandRefusal | undefined;
  /** The names of the settings that differ from the task's settings. */
  otherSettings: readonly string[];
  at: number;
}

/** @throws ProductError if the task refuses the message */
export async function commandTask(
  taskId: string,
  incoming: ClientMessage,
  context: MessageContext,
): Promise<AcceptedMessage> {
  const { taskJournal, journal, clock, models, executor } = context;
  const at = clock.now();
  const known = await requireSnapshot(taskJournal, taskId);
  // The task may run actions without an approval. So a message to another principal's task needs the same role as a
  // decision.
  requireOwnerOrRole(incoming, known.principal, 'approve');
  const mismatch = generationMismatchRefusal(known, incoming.expectedGeneration);
  if (mismatch) throw toProductError(mismatch);
  const resolved =
    incoming.decisions &&
    (await resolveDecisions(incoming.decisions, known, { ...context, by: incoming.principal }));
  if (resolved?.type === 'outdated') return askAgainAndRefuse(taskId, resolved, taskJournal);
  refuseUnsupportedFiles(incoming.message, known.settings.model, models);
  const isMessage = !isDecisionOrRevocation(incoming);
  if (isMessage)
    await refuseLongMessage(incoming.message, { settings: known.settings, live: known }, context);
  const over = isMessage ? await findReachedDailyWritingLimit(known.principal, context) : undefined;
  const overLimit = over && toCommandRefusal(dailyLimitError(over, at));
  const otherSettings = await differingSettings(incoming.settings, known.settings, context);
  const checked = { decisions: resolved?.decisions, overLimit, otherSettings, at };
  const rule: TaskRule = (snapshot) => applyMessage(snapshot, { incoming, checked }, context);
  // A decision and a revocation have no files.
  const contents = isMessage ? incoming.contents : undefined;
  const task = { taskId, principal: known.principal };
  const { changed, snapshot } = await executor.command(task, {
    rule,
    key: commandKeyOf(incoming),
    ...(contents && { contents }),
  });
  if (changed?.type === 'repeated') return acceptRepeated(changed.command, incoming, journal);
  if (over !== undefined && changed === overLimit) context.onRefused(over.name, over.scope);
  const as = snapshot ?? requireAppliedCommand(changed, taskId).snapshot;
  return { taskId, sessionId: as.sessionId, seq: as.seq, snapshot: as };
}

/** Returns the events of the message, or the refusal. The task may have changed since the checks. */
function applyMessage(
  snapshot: Snapshot,
  { incoming, checked }: { incoming: ClientMessage; checked: CheckedMessage },
  context: MessageContext,
): CommandOutcome {
  const { decisions, overLimit, otherSettings, at } = checked;
  const by = toDecider(incoming);
  const decided = { by: { ...by, ...pickRequesterGroups(incoming) }, at };
  const outdated = generationMismatchRefusal(snapshot, incoming.expectedGeneration);
  if (outdated) return outdated;
  if (decisions) return judgeDecisions(snapshot, decisions, decided, context);
  if (incoming.revoke) return revokeGrants(snapshot, incoming.revoke, { by, at });
  const inText = incoming.wordsDecide
    ? decisionInText(snapshot, incoming.message, incoming.taskId)
    : undefined;
  if (inText) return judgeDecisions(snapshot, [inText], decided, context);
  if (incoming.mayDelegate === false) return ONLY_DECISIONS;
  if (overLimit !== undefined) return overLimit;
  const ruling = acceptMessage(snapshot, incoming.message, incoming);
  return isRefusal(ruling) || otherSettings.length === 0
    ? ruling
    : differentSettingsRefusal(snapshot.taskId, otherSettings);
}
