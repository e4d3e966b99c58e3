/** Finds the session or the actions that a person named by an id, a prefix or a code. Sends requests to the agents. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { decidedByText } from '../../../shared/text/decided-by-text.ts';
import { taskStateWord } from '../../../shared/text/task-state-word.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { hasIdPrefix, isShortId, MIN_SHORT_ID_CHARACTERS } from '../../sessions/id-prefix.ts';
import { mcpTaskIdOfSession, hasSessionPrefix, type MatchingSession } from '../../sessions/list-sessions.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { TaskView } from '../../sessions/session/observed-task.ts';
import { commandWord } from '../terminal/command-word.ts';
import { decisionElsewhereError } from '../terminal/how-to-decide.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import { looksLikeActionCode, isWholeActionCode, findSessionWithCode } from './waiting-code.ts';

/** The maximum number of sessions that an error message lists. */
const MAX_NAMED_SESSIONS = 10;
/** The maximum length of a question in an error message. `show` prints the whole question. */
const MAX_QUESTION_CHARACTERS = 200;
const HOW_TO_LIST = '"mcp-a2a-bridge tasks" lists what waits.';

/**
 * Returns the session with this session id or task id. A unique prefix is enough.
 * @throws ProductError UNKNOWN_SESSION; AGENT_UNREACHABLE if no agent has answered
 */
export async function resolveSession(sessions: Sessions, given: string): Promise<Session> {
  try {
    return await sessions.find(given);
  } catch (error) {
    if (!(error instanceof ProductError) || error.reason !== 'UNKNOWN_SESSION') throw error;
  }
  const { sessions: named, unreachable } = await sessions.withPrefix(given);
  const all = named.length > 0 ? named : (await sessions.list({ newest: MAX_NAMED_SESSIONS })).sessions;
  const found = sessionIdOrError(all, given);
  const unsure = unreachable.map(({ agent, message }) => `No answer from agent "${agent}": ${message}`);
  const unsureSentences = ['', ...unsure].join(' ');
  if (typeof found === 'string') {
    const isExact = all.some(({ sessionId, taskId }) => given === sessionId || given === taskId);
    if (unsure.length === 0 || isExact || isShortId(given)) return sessions.find(found);
    throw unknownSessionError(
      given,
      `The id of session ${visibleLine(found)} begins with "${given}". An agent that does not answer may have another such session. Type at least ${String(MIN_SHORT_ID_CHARACTERS)} characters of the id.${unsureSentences}`,
    );
  }
  // An agent that cannot be reached may have the session. So the error must not say that the session does not exist.
  if (all.length === 0 && unsure.length > 0)
    throw new ProductError(
      'AGENT_UNREACHABLE',
      `The bridge cannot look for session "${given}".${unsureSentences}`,
    );
  if (named.length === 0) await refuseActionCode(sessions, given);
  if (!looksLikeActionCode(given) || named.length > 0)
    throw unknownSessionError(given, [found.message, ...unsure].join('\n'));
  const next = isWholeActionCode(given) ? HOW_TO_LIST : found.message;
  throw unknownSessionError(given, [`${noActionWithCodeText(given)} ${next}`, ...unsure].join('\n'));
}

/**
 * Throws if an action or a question waits with this code. Otherwise a command that takes only a session would report
 * that the action no longer waits.
 */
async function refuseActionCode(sessions: Sessions, given: string): Promise<void> {
  const coded = await findSessionWithCode(sessions, given);
  if (coded === undefined) return;
  const { id } = coded.session;
  throw unknownSessionError(
    given,
    `${given} is the code of an action, and this command needs a session: ${visibleLine(id)}.`,
  );
}

/**
 * Returns the session in which the person wants to decide.
 * @param given a text that is not the code of a waiting action or question
 * @throws ProductError INPUT_CHANGED if the text looks like a complete code; other errors like `resolveSession`
 */
export async function resolveSessionToDecide(sessions: Sessions, given: string): Promise<Session> {
  if (isWholeActionCode(given)) {
    const { sessions: named, unreachable } = await sessions.withPrefix(given);
    if (named.length === 0 && unreachable.length === 0) throw codeNotWaitingError(given);
  }
  return resolveSession(sessions, given);
}

/**
 * Returns the id of the matching session, or its MCP task id if another agent uses the same id. Returns an error if no
 * session or several sessions match.
 */
export function sessionIdOrError(all: readonly MatchingSession[], given: string): string | ProductError {
  // Lists show only the ids of sessions. So the ids of tasks count only if no session id has this prefix.
  const own = all.filter(({ sessionId }) => hasIdPrefix(sessionId, given));
  const fits = own.length > 0 ? own : all.filter((each) => hasSessionPrefix(each, given));
  const [only, another] = fits;
  if (only !== undefined && another === undefined) return handleOf(only, all);
  if (only !== undefined) {
    return unknownSessionError(
      given,
      `Several sessions begin with "${given}". Type more of the one you mean:${namesOf(fits, all)}`,
    );
  }
  return unknownSessionError(
    given,
    all.length === 0
      ? `There is no session "${given}", and no other either: delegate something from your MCP client first.`
      : `There is no session "${given}". The newest are:${namesOf(all, all)}\n"mcp-a2a-bridge tasks" lists all of them.`,
  );
}

/** Returns the id that `sessions.find` needs. An MCP task id also names the agent. */
function handleOf(session: MatchingSession, all: readonly MatchingSession[]): string {
  const isShared = all.some(
    ({ sessionId, agent }) => sessionId === session.sessionId && agent !== session.agent,
  );
  return isShared ? mcpTaskIdOfSession(session) : session.sessionId;
}

function namesOf(sessions: readonly MatchingSession[], all: readonly MatchingSession[]): string {
  const lines = sessions
    .slice(0, MAX_NAMED_SESSIONS)
    .map(
      (each) =>
        `\n  ${visibleLine(handleOf(each, all))}${each.title === '' ? '' : `  ${visibleLine(each.title)}`}`,
    );
  return [...lines, ...(sessions.length > MAX_NAMED_SESSIONS ? ['\n  … and more'] : [])].join('');
}

function unknownSessionError(sessionId: string, message: string): ProductError {
  return new ProductError('UNKNOWN_SESSION', message, { facts: { sessionId } });
}

/** The actions that a person named by a code, or by a session and an optional call. */
export interface NamedActions {
  session: Session;
  actions: readonly PendingAction[];
  /**
   * True if the person typed the complete code. D2: a decision is valid only for what the person saw, and the complete
   * code shows that the person has seen the action.
   */
  seen: boolean;
}

/**
 * Finds the actions that a person named on the command line.
 * @throws ProductError UNKNOWN_SESSION if no session, or more than one, has the given id
 * @throws ProductError UNKNOWN_CALL if no action waits, if the named call does not exist, or if several actions match
 * @throws UsageError if the person gave a code and --all
 * @throws ProductError ALREADY_DECIDED if the named call no longer waits
 * @throws ProductError INPUT_CHANGED if the person gave a complete code, and no waiting action has it
 * @throws ProductError AGENT_UNREACHABLE if the bridge finds no session because an agent does not respond
 */
export async function resolveActions(
  sessions: Sessions,
  given: { what: string; call: string | undefined },
  all: boolean,
): Promise<NamedActions> {
  const coded = await findSessionWithCode(sessions, given.what);
  if (coded !== undefined) {
    const { session, code, whole } = coded;
    const actions = session.pendingInput.pending.filter(({ shown }) => shown === code);
    // No action has the code, so it is the code of a plain-text question.
    if (actions.length === 0) throw unknownCallError(noPendingActionText(session.view));
    requireSameAction(actions, { call: given.call, all });
    return { session, actions, seen: whole };
  }
  const session = await resolveSessionToDecide(sessions, given.what);
  await session.refresh();
  return { session, actions: resolvePendingActions(session.view, given.call, all), seen: false };
}

/**
 * Compares the action that a code names with the other arguments of the command.
 * @throws ProductError UNKNOWN_CALL if the call is another one; UsageError with --all
 */
export function requireSameAction(
  actions: readonly PendingAction[],
  { call, all }: { call: string | undefined; all: boolean },
): void {
  if (all)
    throw new UsageError('A code names one action, and --all goes with a session. Nothing was decided.');
  if (call === undefined || actions.some(({ callId }) => hasIdPrefix(callId, call))) return;
  const ids = actions.map(({ callId }) => visibleLine(callId)).join(', ');
  throw unknownCallError(
    `The code is that of the action ${ids}, not of "${visibleLine(call)}". Nothing was decided.`,
  );
}

/**
 * Returns the pending action with the given call id. Without a call id, returns the only pending action, or all of them
 * if `all` is true.
 * @throws ProductError UNKNOWN_CALL; ALREADY_DECIDED if the action no longer waits (R07: a second decision gets an
 * error that names the first)
 */
export function resolvePendingActions(
  view: TaskView | undefined,
  given: string | undefined,
  all: boolean,
): readonly PendingAction[] {
  const pending = view?.pending ?? [];
  if (given === undefined) {
    if (pending.length === 1 || (all && pending.length > 0)) return pending;
    throw unknownCallError(
      pending.length === 0
        ? noPendingActionText(view)
        : `Several actions wait. Name one, or use --all:${actionLines(pending)}`,
    );
  }
  const exact = pending.filter(({ callId }) => callId === given);
  const fits = exact.length > 0 ? exact : pending.filter(({ callId }) => hasIdPrefix(callId, given));
  if (fits.length === 1) return fits;
  if (fits.length > 1) throw unknownCallError(`Several actions begin with "${given}":${actionLines(fits)}`);
  const before = (view?.calls ?? []).filter(({ callId }) => hasIdPrefix(callId, given));
  if (before.length === 1 && before[0] !== undefined) throw actionNotWaitingError(before[0]);
  throw unknownCallError(
    pending.length === 0
      ? `There is no call "${given}". ${noPendingActionText(view)}`
      : `There is no call "${given}". These wait for a decision:${actionLines(pending)}`,
  );
}

/**
 * Returns the question to answer. If the person named no call, exactly one question must wait.
 * @throws ProductError DECISION_NEEDED if no question waits, UNKNOWN_CALL if several wait, OTHER_APPROVER_REQUIRED
 */
export function resolveQuestion(
  view: TaskView | undefined,
  { call: given, code }: { call?: string | undefined; code?: string | undefined },
): PendingAction {
  const all = view?.pending ?? [];
  const pending = code === undefined ? all : all.filter(({ shown }) => shown === code);
  const questions = pending.filter(({ decisions }) => decisions.includes('answer'));
  for (const action of pending) {
    const barred = action.preview.type === 'question' ? decisionElsewhereError(action, 'answer') : undefined;
    if (questions.length === 0 && barred !== undefined) throw barred;
  }
  if (questions.length === 0)
    throw new ProductError(
      'DECISION_NEEDED',
      pending.length > 0
        ? `The agent has no open question. What waits needs approve, deny or edit.`
        : 'The agent has no open question.',
    );
  const fits = given === undefined ? questions : questions.filter(({ callId }) => hasIdPrefix(callId, given));
  const [only, another] = fits;
  if (only !== undefined && another === undefined) return only;
  throw unknownCallError(
    only === undefined
      ? `There is no question "${given ?? ''}". These wait for an answer:${actionLines(questions)}`
      : `Several questions wait. Name one with --call:${actionLines(fits)}`,
  );
}

function actionNotWaitingError({ callId, title, decided }: TaskView['calls'][number]): ProductError {
  const how = decided && `: ${decidedByText(decided)}`;
  return new ProductError(
    'ALREADY_DECIDED',
    `The action ${callId} (${visibleLine(title)}) ${decided === null ? 'no longer waits' : 'was decided before'}${how ?? ''}. Nothing was decided.`,
    { facts: { callId } },
  );
}

/** An action keeps its code until it is decided or changes. The bridge does not know which of the two happened. */
function noActionWithCodeText(code: string): string {
  return `No action waits with the code ${code}: it was decided, or it has another code now.`;
}

function codeNotWaitingError(code: string): ProductError {
  return new ProductError(
    'INPUT_CHANGED',
    `${noActionWithCodeText(code)} Nothing was decided. ${HOW_TO_LIST}`,
    {
      facts: { shown: code },
    },
  );
}

function noPendingActionText(view: TaskView | undefined): string {
  if (view?.question !== undefined && view.question !== null)
    return `No action waits for a decision: the agent asks a question: "${visibleLine(view.question.text, MAX_QUESTION_CHARACTERS)}". Answer it with: mcp-a2a-bridge answer ${commandWord(view.question.shown)} <words>`;
  return `No action of this session waits for a decision${view === undefined ? '' : `; its task is ${taskStateWord(view.state)}`}.`;
}

function actionLines(pending: readonly PendingAction[]): string {
  return pending.map(({ callId, title }) => `\n  ${visibleLine(callId)}  ${visibleLine(title)}`).join('');
}

function unknownCallError(message: string): ProductError {
  return new ProductError('UNKNOWN_CALL', message);
}
