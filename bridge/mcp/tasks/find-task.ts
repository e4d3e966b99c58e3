/**
 * Finds a task by its MCP task id, and returns its current state. B3: a killed bridge loses nothing. So any bridge may
 * have created the id.
 */
import { toCallToolResult } from '../tool/tool-result.ts';
import { fetchJournalProblem } from '../../agents/journal-problem.ts';
import type { BridgeContext } from '../bridge-context.ts';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import type { Session } from '../../sessions/session/session.ts';
import { isSessionOver, sessionProblem } from '../../sessions/session/session-state.ts';
import type { SessionStateName } from '../../dialects/observation.ts';
import { hasEnded, type TaskView, viewOfWholeTask } from '../../sessions/session/observed-task.ts';
import type { NameOfTool } from '../../tool-names/tool-names.ts';
import { commandLineNotes, buildOfferedForms, type OfferedForms } from '../../approvals/forms-to-offer.ts';
import { announceResults } from '../tool/add-announcements.ts';
import { recordIncompletePreviews } from '../tool/session-reply.ts';
import type { AnnouncedResults } from '../../inbox/format-announcement.ts';
import { endedTaskReply } from './ended-task-reply.ts';
import { notesForRepeatedReads } from './notes-for-repeated-reads.ts';
import { taskCreatedAt } from './task-created-at.ts';
import { type DetailedTask, toDetailedTask } from './detailed-task.ts';
import type { ClientFollowedTasks } from '../../sessions/client-followed-tasks.ts';
import { decodeMcpTaskId } from '../../sessions/mcp-task-id.ts';

interface FoundTask {
  session: Session;
  /** The task with this id. The session may have a newer task. */
  view: TaskView | undefined;
  /** True if the task is the newest one of the session. */
  current: boolean;
}

/**
 * Finds the task with this MCP task id. If the session has a newer task, asks the agent for the task with this id.
 * @throws ProductError UNKNOWN_SESSION, UNKNOWN_TASK; other errors if its agent cannot be reached
 */
export async function findMcpTask({ sessions }: BridgeContext, id: string): Promise<FoundTask> {
  const parts = decodeMcpTaskId(id);
  if (parts === undefined) throw new ProductError('UNKNOWN_TASK', `There is no task "${id}".`);
  const session = await sessions.find(id);
  if (parts.taskId === '' || session.view?.taskId === parts.taskId)
    return { session, view: session.view, current: true };
  const view = await session.agent.ask(async (connection) =>
    viewOfWholeTask(await connection.task(parts.taskId), connection.dialect),
  );
  return { session, view, current: false };
}

export interface TaskReplyContext {
  bridge: BridgeContext;
  name: NameOfTool;
  /** True if the client can open the URL of a form in URL mode. */
  opensUrls: boolean;
  followed: ClientFollowedTasks | undefined;
}

/** What is known about a task now. */
interface KnownTask {
  view: TaskView | undefined;
  state: SessionStateName;
  isOver: boolean;
  problem: string | undefined;
  offered: OfferedForms;
}

/**
 * Returns the current state of the task. Records its forms as sent. If the task is over, records its result as
 * collected.
 */
export async function currentMcpTask(
  id: string,
  found: FoundTask,
  context: TaskReplyContext,
): Promise<DetailedTask> {
  const { bridge, name, followed } = context;
  const { session, current } = found;
  const { view, state, isOver, problem, offered } = await (current ? newestTask : earlierTask)(
    found,
    context,
  );
  const { forms, opened, unoffered } = offered;
  const taskId = view?.taskId ?? '';
  bridge.formHistory.recordSent(
    taskId,
    forms.map(({ ask }) => ask),
  );
  const needsDecisionElsewhere = forms.length === 0 && opened.length === 0 && unoffered.length > 0;
  if (current && isOver) bridge.delegations.collect(session);
  if (current && (isOver || needsDecisionElsewhere)) followed?.ended(session);
  else if (current) followed?.follows(session);
  // Clients show a response only if it contains the result of the tool call. So other responses contain no
  // announcement.
  const news =
    isOver || needsDecisionElsewhere ? await takeAnnouncedResults(bridge) : { results: [], more: 0 };
  // The notes of a session are about its newest task. So the reply about an earlier task contains no notes.
  const notes = (): readonly string[] => (current ? notesForRepeatedReads(session, taskId) : []);
  return toDetailedTask({
    taskId: id,
    agent: session.agent.name,
    sessionId: session.id,
    state,
    over: isOver,
    view,
    problem,
    createdAt: taskCreatedAt(bridge.sessions, session),
    changedAt: session.activity.changedAt,
    forms,
    needsDecisionElsewhere,
    onPage: forms.length === 0 && opened.length > 0,
    notes,
    result: () => {
      const all = [...notes(), ...commandLineNotes(unoffered)];
      const reply = endedTaskReply(session, { view, current, notes: all }, { bridge, name });
      recordIncompletePreviews({ bridge }, reply.structured);
      return toCallToolResult(announceResults(reply, news, name));
    },
  });
}

async function newestTask(
  { session, view: seen }: FoundTask,
  { bridge: { formHistory, links }, opensUrls }: TaskReplyContext,
): Promise<KnownTask> {
  const refreshProblem = (await refreshSession(session)) ?? (await stallReason(session));
  // From here on nothing waits, so the state and the forms are of the same moment.
  const { view, state, stateName } = session;
  return {
    view,
    state: stateName,
    isOver: isSessionOver(state),
    problem: sessionProblem(state) ?? refreshProblem,
    offered:
      seen === undefined ? NO_FORMS : await buildOfferedForms({ session, formHistory, links, opensUrls }),
  };
}

function earlierTask({ view }: FoundTask): KnownTask {
  const isOver = view !== undefined && hasEnded(view);
  return { view, state: view?.state ?? 'unknown', isOver, problem: undefined, offered: NO_FORMS };
}

const NO_FORMS: OfferedForms = { forms: [], opened: [], unoffered: [] };

async function takeAnnouncedResults({ inbox }: BridgeContext): Promise<AnnouncedResults> {
  await inbox.refresh();
  return inbox.take();
}

/** Refreshes the session. If that fails, returns the reason. The caller then uses the last known state. */
async function refreshSession(session: Session): Promise<string | undefined> {
  try {
    await session.refreshState();
    return session.streamProblem?.message;
  } catch (error) {
    return errorMessageOf(error);
  }
}

/** Returns why a task that works makes no progress, if the agent tells the reason. */
async function stallReason({ agent, settled, state }: Session): Promise<string | undefined> {
  return settled || sessionProblem(state) !== undefined ? undefined : fetchJournalProblem(agent);
}
