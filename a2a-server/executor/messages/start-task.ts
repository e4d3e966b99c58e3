import type { TaskSettings } from '../../../shared/protocol/tool-approval.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { TaskRow } from '../../journal/journal.ts';
import { mayRunSomeUnasked } from '../../policy/task-mode.ts';
import type { TaskEvent } from '../../task/events.ts';
import type { Snapshot } from '../../task/snapshot.ts';
import { acceptRepeated, type AcceptedMessage } from './accepted-message.ts';
import { commandKeyOf, isDecisionOrRevocation, type ClientMessage } from './client-message.ts';
import { toProductError } from './command-result.ts';
import { commandTask, ONLY_DECISIONS } from './command-task.ts';
import type { MessageContext } from './message-context.ts';
import { defaultModeFor, newTaskSettings } from './new-task-settings.ts';
import { refuseLongMessage } from './refuse-long-message.ts';
import { refuseUnsupportedFiles } from './refuse-unsupported-files.ts';

/**
 * Starts a task in a session, and wakes it.
 * @throws ProductError if the message or its settings are refused
 */
export async function startTask(
  target: { sessionId: string; previous?: TaskRow },
  incoming: ClientMessage,
  context: MessageContext,
): Promise<AcceptedMessage> {
  const { journal, taskJournal, ids, models, commands, executor } = context;
  refuseToStart(incoming, context);
  const previous = target.previous && (await taskJournal.loadOrBeginning(target.previous.taskId));
  const message = commands.accept(incoming.message);
  if (previous !== undefined && incoming.settings.workspace === undefined)
    await requireHere(previous, journal);
  const settings = await checkedSettings(
    newTaskSettings(incoming.settings, previous, defaultModeFor(incoming, context.mode)),
    context,
  );
  refuseUnsupportedFiles(message, settings.model, models);
  await refuseLongMessage(message, { settings, previous }, context);
  const taskId = ids.task();
  const { sessionId } = target;
  const { principal, channel, contents = [], trace } = incoming;
  const traced = trace && { trace };
  const answer = message.command === undefined && models.resolve(settings.model).answersWith?.(message);
  const events: TaskEvent[] = [
    {
      type: 'task.created',
      sessionId,
      principal,
      settings,
      ...(answer === 'message' && { answer }),
    },
    { type: 'message.received', message, channel, ...traced },
  ];
  const result = await taskJournal.append(principal, {
    taskId,
    expectedSeq: 0,
    events,
    state: 'submitted',
    command: commandKeyOf(incoming),
    contents,
    ...traced,
  });
  switch (result.type) {
    case 'appended':
      executor.wake({ taskId, principal, begun: false });
      return { taskId, sessionId, seq: result.entries.length };
    case 'repeated':
      return acceptRepeated(result.command, incoming, journal);
    case 'session-busy':
      // Another message has just started the session's next task, so this message goes to that task.
      return commandTask(result.taskId, incoming, context);
    case 'conflict':
    case 'fenced':
      throw new Error(`two tasks got the id ${taskId}`);
  }
}

/** Refuses a message that may not start a task, or whose mode this server does not allow. */
function refuseToStart(incoming: ClientMessage, { policy }: Pick<MessageContext, 'policy'>): void {
  if (isDecisionOrRevocation(incoming))
    throw new ProductError(
      'INVALID_DECISION',
      'The message decides a call or revokes a grant, but names no task and no session. Nothing was changed. Send it again with the task id.',
    );
  if (incoming.mayDelegate === false) throw toProductError(ONLY_DECISIONS);
  if (policy().approver?.fourEyes === true && mayRunSomeUnasked(incoming.settings))
    throw new ProductError(
      'OTHER_APPROVER_REQUIRED',
      'This server demands four eyes, so a task cannot begin in a mode that approves its calls in advance. Nothing was started. Begin it in the mode "ask" or "plan".',
    );
}

/** Requires that this server has the directories of the session's last task, because the new task inherits them. */
async function requireHere(
  { taskId, sessionId, settings }: Snapshot,
  journal: MessageContext['journal'],
): Promise<void> {
  if (await journal.ownership.isHere(taskId)) return;
  throw new ProductError(
    'UNKNOWN_WORKSPACE',
    `The workspace ${settings.workspace ?? ''} of session ${sessionId} is on servers with another label than this one (setting "label"). Send the message to one of them, or name a workspace of this server.`,
    { facts: { sessionId } },
  );
}

async function checkedSettings(
  settings: TaskSettings,
  { models, openWorkspace }: MessageContext,
): Promise<TaskSettings> {
  models.resolve(settings.model);
  const workspace = await openWorkspace(settings.workspace);
  return { ...settings, workspace: workspace.root };
}
