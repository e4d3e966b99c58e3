/**
 * Accepts messages and decisions. E3: an accepted command is never lost. So `send` resolves only after the command is
 * durable. Then the executor runs the task.
 */
import { isLimitRefusal, ProductError } from '../../../shared/runtime/errors.ts';
import type { AgentCommands } from '../../agent-commands/agent-commands.ts';
import type { DecisionStatement } from '../../../shared/presence/presence-proof.ts';
import type {
  Decision,
  DecisionsPart,
  TaskMode,
  TaskSettings,
} from '../../../shared/protocol/tool-approval.ts';
import type { CommandKey, RecordedCommand, TaskRow } from '../../journal/journal.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/extensions.ts';
import { acceptMessage } from '../../task/accept-message.ts';
import { askAgain, decideCalls, outdatedQuestionRefusal, type ResolvedDecision } from '../../task/decide.ts';
import { decisionStatement } from '../../task/presence.ts';
import type { CommandOutcome, CommandRefusal } from '../../task/command-outcome.ts';
import { decisionInText } from '../../task/text-decision.ts';
import { generationMismatchRefusal } from '../../task/generation.ts';
import { revokeGrants } from '../../task/revoke.ts';
import { requireOwnerOrRole, type Requester } from '../../access/requester.ts';
import { mayRunSomeUnasked } from '../../policy/task-mode.ts';
import { mergeApproverDemands, type Approver } from '../../task/approver.ts';
import type { Decider, TaskEvent } from '../../task/events.ts';
import { findCall, type Snapshot } from '../../task/snapshot.ts';
import type { OnRefused } from '../../limits/concurrency-limiter.ts';
import { dailyLimitError } from '../../limits/daily-writing.ts';
import type { Executor } from '../executions/executor.ts';
import { type ExecutorOptions } from '../executions/executor.ts';
import { findReachedDailyLimit } from './find-reached-daily-limit.ts';
import { resolveDecisions, type DecisionsResult, type PresenceVerifier } from './resolve-decisions.ts';
import { refuseUnsupportedFiles } from './refuse-unsupported-files.ts';
import { refuseLongMessage } from './refuse-long-message.ts';
import {
  defaultModeFor,
  differentSettingsRefusal,
  differingSettings,
  newTaskSettings,
} from './new-task-settings.ts';
import type { TaskJournal } from '../task-journal/task-journal.ts';
import { type AppendOrKeep } from '../task-journal/task-journal.ts';
import { findMessageTarget } from './message-target.ts';
import { requireVisibleRow, requireSnapshot } from '../queries/task-lookup.ts';
import { isDecisionOrRevocation, type ClientMessage } from './client-message.ts';
import {
  requireAppliedCommand,
  toDecider,
  pickRequesterGroups,
  toProductError,
  toCommandRefusal,
} from './command-result.ts';

export interface AcceptedMessage {
  taskId: string;
  sessionId: string;
  /**
   * The last `seq` of this command, or the journal's last `seq` for a repeated message. The stream begins with the task
   * at this `seq`. It ends at once if the task still waits for other decisions.
   */
  seq: number;
  /** The task at `seq`. Absent if it is not loaded. */
  snapshot?: Snapshot;
}

export interface MessageReceiver {
  /**
   * Accepts a message or a decision, or starts a task. E3: resolves only when the command is durable.
   * @throws ProductError
   */
  send(incoming: ClientMessage): Promise<AcceptedMessage>;
  /**
   * Returns the session and the task that would get this message. The task is absent if the message would start one.
   * Changes nothing.
   * @throws ProductError UNKNOWN_TASK, UNKNOWN_SESSION, and others that `send` throws
   */
  recipient(incoming: ClientMessage): Promise<{ sessionId: string; taskId?: string }>;
  /**
   * Returns the statement that a passkey must sign for this decision. Changes nothing.
   * @throws ProductError with the refusal that the decision itself would get
   */
  presenceStatement(taskId: string, by: Requester, decision: Decision): Promise<DecisionStatement>;
}

export interface MessageReceiverOptions extends Pick<
  ExecutorOptions,
  'journal' | 'ids' | 'models' | 'clock' | 'policy' | 'toolbox' | 'openWorkspace' | 'writingLimits'
> {
  commands: AgentCommands;
  mode: TaskMode;
  /** Called when a limit refuses a message. */
  onRefused?: OnRefused;
  /** Checks the assertions of passkeys. If absent, a decision cannot have an assertion. */
  presence?: PresenceVerifier;
}

/** The refusal for a sender who may only decide, if its text is not a decision on a pending action. */
const ONLY_DECISIONS: CommandRefusal = {
  type: 'refuse',
  reason: 'FORBIDDEN',
  message:
    'Your token may decide and not delegate. So your text can only be "approve" or "deny", for the one action that waits in the task that you name. Nothing was changed.',
};

export function createMessageReceiver(
  options: MessageReceiverOptions,
  { log, executor }: { log: TaskJournal; executor: Executor },
): MessageReceiver {
  const { journal, ids, models, clock, commands } = options;

  async function send(incoming: ClientMessage): Promise<AcceptedMessage> {
    const key: CommandKey = {
      principal: incoming.principal,
      messageId: incoming.message.messageId,
      bodyHash: incoming.bodyHash,
    };
    for (;;) {
      const known = await journal.command(key.principal, key.messageId);
      if (known) return repeated(known, key);
      const target = await findMessageTarget(incoming, { journal, ids });
      try {
        return await (target.type === 'live'
          ? command(target.taskId, incoming, key)
          : startInTurn(target, incoming, key));
      } catch (error) {
        if (!(await overtaken(incoming, key, error))) throw error;
      }
    }
  }

  async function recipient(incoming: ClientMessage): Promise<{ sessionId: string; taskId?: string }> {
    const known = await journal.command(incoming.principal, incoming.message.messageId);
    if (known) return { sessionId: known.sessionId, taskId: known.taskId };
    const target = await findMessageTarget(incoming, { journal, ids });
    const { sessionId } = target;
    return target.type === 'live' ? { sessionId, taskId: target.taskId } : { sessionId };
  }

  /**
   * True if a concurrent command caused the refusal. Either the same message arrived twice, or the session's task ended
   * first.
   */
  async function overtaken(incoming: ClientMessage, key: CommandKey, error: unknown): Promise<boolean> {
    if (!(error instanceof ProductError)) return false;
    const next = incoming.taskId === undefined && !isDecisionOrRevocation(incoming);
    if (next && error.reason === 'TASK_ENDED') return true;
    // A refusal by a limit is not tried again here: the client sends the message again, and the server then finds its
    // first copy.
    if (isLimitRefusal(error)) return false;
    return (await journal.command(key.principal, key.messageId)) !== undefined;
  }

  /** Starts a task, unless the sender has reached a limit. The limits are checked before any other work. */
  async function startInTurn(...[target, incoming, key]: Parameters<typeof start>): Promise<AcceptedMessage> {
    // This check needs no query. So a server with too much work refuses at little cost.
    const release = await executor.reserve(incoming.principal);
    try {
      const over = isDecisionOrRevocation(incoming)
        ? undefined
        : await findReachedDailyLimit(incoming.principal, options);
      if (over !== undefined) {
        options.onRefused?.(over.name, over.scope);
        throw dailyLimitError(over, clock.now());
      }
      return await start(target, incoming, key);
    } finally {
      release();
    }
  }

  async function start(
    target: { sessionId: string; previous?: TaskRow },
    incoming: ClientMessage,
    key: CommandKey,
  ): Promise<AcceptedMessage> {
    if (isDecisionOrRevocation(incoming))
      throw new ProductError(
        'INVALID_DECISION',
        'The message decides a call or revokes a grant, but names no task and no session. Nothing was changed. Send it again with the task id.',
      );
    if (incoming.mayDelegate === false) throw toProductError(ONLY_DECISIONS);
    if (options.policy().approver?.fourEyes === true && mayRunSomeUnasked(incoming.settings))
      throw new ProductError(
        'OTHER_APPROVER_REQUIRED',
        'This server demands four eyes, so a task cannot begin in a mode that approves its calls in advance. Nothing was started. Begin it in the mode "ask" or "plan".',
      );
    const previous = target.previous && (await log.loadOrBeginning(target.previous.taskId));
    const message = commands.accept(incoming.message);
    if (previous !== undefined && incoming.settings.workspace === undefined) await requireHere(previous);
    const settings = await checkedSettings(
      newTaskSettings(incoming.settings, previous, defaultModeFor(incoming, options.mode)),
    );
    refuseUnsupportedFiles(message, settings.model, models);
    await refuseLongMessage(message, { settings, previous }, options);
    const taskId = ids.task();
    const { contents = [], trace } = incoming;
    const bare =
      message.command === undefined && models.resolve(settings.model).answersWith?.(message) === 'message';
    const events: TaskEvent[] = [
      {
        type: 'task.created',
        sessionId: target.sessionId,
        principal: incoming.principal,
        settings,
        ...(bare && { answer: 'message' }),
      },
      { type: 'message.received', message, channel: incoming.channel, ...(trace && { trace }) },
    ];
    const { principal } = incoming;
    const append = { taskId, expectedSeq: 0, events, command: key, contents, ...(trace && { trace }) };
    const result = await log.append(principal, { ...append, state: 'submitted' });
    switch (result.type) {
      case 'appended':
        executor.wake({ taskId, principal, begun: false });
        return { taskId, sessionId: target.sessionId, seq: result.entries.length };
      case 'repeated':
        return repeated(result.command, key);
      case 'session-busy':
        // Another message has just started the session's next task, so this message goes to that task.
        return command(result.taskId, incoming, key);
      case 'conflict':
      case 'fenced':
        throw new Error(`two tasks got the id ${taskId}`);
    }
  }

  async function command(taskId: string, incoming: ClientMessage, key: CommandKey): Promise<AcceptedMessage> {
    const by = toDecider(incoming);
    const approver = { ...by, ...pickRequesterGroups(incoming) };
    const now = clock.now();
    const known = await requireSnapshot(log, taskId);
    // The task may run actions without an approval. So a message to another principal's task needs the same role as a
    // decision.
    requireOwnerOrRole(incoming, known.principal, 'approve');
    const { expectedGeneration } = incoming;
    const mismatch = generationMismatchRefusal(known, expectedGeneration);
    if (mismatch) throw toProductError(mismatch);
    const resolved =
      incoming.decisions &&
      (await resolveDecisions(incoming.decisions, known, { ...options, by: incoming.principal }));
    if (resolved?.type === 'outdated') throw await askedAgain(taskId, resolved);
    const decisions = resolved?.decisions;
    refuseUnsupportedFiles(incoming.message, known.settings.model, models);
    if (!isDecisionOrRevocation(incoming))
      await refuseLongMessage(incoming.message, { settings: known.settings, live: known }, options);
    const over = isDecisionOrRevocation(incoming)
      ? undefined
      : await findReachedDailyLimit(known.principal, options);
    const tooMuch = over && toCommandRefusal(dailyLimitError(over, now));
    const others = await differingSettings(incoming.settings, known.settings, options);
    const rule = (snapshot: Snapshot): AppendOrKeep => {
      // The task may have another generation now than when it was read above.
      const outdated = generationMismatchRefusal(snapshot, expectedGeneration);
      if (outdated) return outdated;
      if (decisions) return withAddress(judge(snapshot, decisions, { by: approver, at: now }), taskId);
      if (incoming.revoke) return revokeGrants(snapshot, incoming.revoke, { by, at: now });
      const bare = incoming.wordsDecide
        ? decisionInText(snapshot, incoming.message, incoming.taskId)
        : undefined;
      if (bare) return withAddress(judge(snapshot, [bare], { by: approver, at: now }), taskId);
      if (incoming.mayDelegate === false) return ONLY_DECISIONS;
      if (tooMuch !== undefined) return tooMuch;
      const ruling = acceptMessage(snapshot, incoming.message, incoming);
      if (ruling.type === 'append' && others.length > 0) return differentSettingsRefusal(taskId, others);
      return ruling.type === 'append' && incoming.contents !== undefined
        ? { ...ruling, contents: incoming.contents }
        : ruling;
    };
    const { principal } = known;
    const { changed, snapshot } = await executor.command({ taskId, principal }, rule, key);
    if (changed?.type === 'repeated') return repeated(changed.command, key);
    // The text may be a decision, which this limit does not refuse.
    if (over !== undefined && changed === tooMuch) options.onRefused?.(over.name, over.scope);
    const as = snapshot ?? requireAppliedCommand(changed, taskId).snapshot;
    return { taskId, sessionId: as.sessionId, seq: as.seq, snapshot: as };
  }

  /** Checks a decision. The decisions of every channel pass through this function. */
  function judge(
    snapshot: Snapshot,
    decisions: readonly ResolvedDecision[],
    { by, at }: { by: Decider & Approver; at: number },
  ): CommandOutcome {
    const { approver: ofServer } = options.policy();
    // The journal stores the demands on the approver with each tool call. Old journals lack them, so the demands of
    // this server's policy apply too.
    const demanding = decisions.map((decision) => {
      const approver = mergeApproverDemands(decision.approver, ofServer);
      return { ...decision, ...(approver && { approver }) };
    });
    return decideCalls(snapshot, demanding, { by, at });
  }

  /** Adds the page's address to a refusal that demands a passkey. */
  function withAddress(outcome: CommandOutcome, taskId: string): CommandOutcome {
    if (outcome.type !== 'refuse' || outcome.reason !== 'PRESENCE_REQUIRED' || !options.presence)
      return outcome;
    const { facts } = outcome;
    const address = options.presence.address({ taskId, callId: facts?.['callId'] });
    const message = `${outcome.message} The page is ${address}; \`mcp-a2a-bridge page\` signs a browser in.`;
    return { ...outcome, message, facts: { ...facts, address } };
  }

  async function presenceStatement(
    taskId: string,
    by: Requester,
    decision: Decision,
  ): Promise<DecisionStatement> {
    await requireVisibleRow(journal, taskId, by);
    const known = await requireSnapshot(log, taskId);
    const part: DecisionsPart = { extension: TOOL_APPROVAL_EXTENSION, decisions: [decision] };
    const resolved = await resolveDecisions(part, known, { ...options, by: by.principal });
    if (resolved.type === 'outdated') throw await askedAgain(taskId, resolved);
    const outcome = judge(known, resolved.decisions, {
      by: { principal: by.principal, channel: 'page', ...pickRequesterGroups(by) },
      at: clock.now(),
    });
    if (outcome.type === 'refuse' && outcome.reason !== 'PRESENCE_REQUIRED') throw toProductError(outcome);
    const call = findCall(known, decision.callId);
    const [only] = resolved.decisions;
    const signed =
      call?.state.type === 'waiting' && only
        ? decisionStatement(known, { ...call, state: call.state }, only)
        : undefined;
    if (signed === undefined)
      throw new ProductError('INVALID_DECISION', 'Only an approval or an edit takes a passkey.');
    return signed;
  }

  /**
   * Asks the person again about a tool call whose files have changed (D2: a decision binds to what was shown). Returns
   * the refusal of the old decision.
   */
  async function askedAgain(
    taskId: string,
    { call, event }: Extract<DecisionsResult, { type: 'outdated' }>,
  ): Promise<ProductError> {
    await log.change(taskId, (s) => askAgain(s, call, event));
    const { reason, message, facts } = outdatedQuestionRefusal(call, 'content-changed');
    return new ProductError(reason, message, facts && { facts });
  }

  /**
   * Answers a repeated message with the task of its first copy. The returned `seq` is the task's last `seq`, so that
   * the client sees no question that a person has already decided. A different body with the same message id is a
   * conflict.
   */
  async function repeated(
    { taskId, sessionId, bodyHash, seq }: RecordedCommand,
    key: CommandKey,
  ): Promise<AcceptedMessage> {
    if (bodyHash !== key.bodyHash)
      throw new ProductError(
        'MESSAGE_CONFLICT',
        `Message id ${key.messageId} belongs to another message, in task ${taskId}. Nothing was changed. Send this message with a new id.`,
        { facts: { taskId, sessionId } },
      );
    const row = await journal.row(taskId);
    return { taskId, sessionId, seq: row?.seq ?? seq };
  }

  /** Requires that this server has the directories of the session's last task, because the new task inherits them. */
  async function requireHere({ taskId, sessionId, settings }: Snapshot): Promise<void> {
    if (await journal.ownership.isHere(taskId)) return;
    throw new ProductError(
      'UNKNOWN_WORKSPACE',
      `The workspace ${settings.workspace ?? ''} of session ${sessionId} is on servers with another label than this one (setting "label"). Send the message to one of them, or name a workspace of this server.`,
      { facts: { sessionId } },
    );
  }

  async function checkedSettings(settings: TaskSettings): Promise<TaskSettings> {
    models.resolve(settings.model);
    const workspace = await options.openWorkspace(settings.workspace);
    return { ...settings, workspace: workspace.root };
  }

  return { send, recipient, presenceStatement };
}
