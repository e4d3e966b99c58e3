/**
 * Waits for the session of a tool call. A client with the tasks extension gets an MCP task. For any other client, the
 * tool call waits until its time limit. If the client shows forms, the person is asked in forms (`docs/approvals.md`).
 */
import { type InputRequest, inputRequired } from '@modelcontextprotocol/server';
import { fetchJournalProblem } from '../../agents/journal-problem.ts';
import { askPersonInCall, type AskInCallOptions, processFormRound } from '../../approvals/ask-in-call.ts';
import type { Form, UrlForm } from '../../approvals/form-field.ts';
import { commandLineNotes, buildOfferedForms } from '../../approvals/forms-to-offer.ts';
import type { AnsweredSessionRound } from '../../approvals/request-state.ts';
import type { SessionResult } from '../reports/session-result.ts';
import type { Session } from '../../sessions/session/session.ts';
import { isSessionOver } from '../../sessions/session/session-state.ts';
import { asksPerson } from '../../sessions/session/observed-task.ts';
import { waitForSession, type WaitEndReason, type WaitOptions } from '../../sessions/wait-for-session.ts';
import { createTaskReply } from '../tasks/created-task.ts';
import { sessionReply } from '../tool/session-reply.ts';
import type { ToolCallContext } from '../tool/tool.ts';
import type { ToolAnswer } from '../tool/tool-result.ts';

interface AwaitedSession {
  session: Session;
  /** Settles when the message of the tool call is delivered or refused. */
  delivery?: Promise<void> | undefined;
  /** The time limit of the wait, in milliseconds. */
  timeout: number;
  atLeast?: WaitOptions['atLeast'] | undefined;
  /** Returns notes for the reply. Called when the reply is built. */
  notes?: () => readonly string[];
  /** False if the caller needs the outcome itself. The tool call then returns no MCP task. */
  asTask?: boolean;
  outcome?: boolean;
  /**
   * True if the caller asks about an existing task. The reply then contains the preview of a pending action, because an
   * MCP task shows no preview. If the client already follows the MCP task, the reply does not contain the MCP task
   * again.
   */
  showsPending?: boolean;
}

/**
 * The maximum number of rounds (requests) of one tool call. The SDK's client stops after ten, so the bridge uses fewer.
 */
const MAX_ROUNDS = 8;

const IN_BACKGROUND =
  'Your client follows this task in the background already, and notifies you when it needs a decision or has ended. Do not wait for it again.';

/**
 * How this client asks the person during a tool call. `mcp-task`: in the forms of an MCP task. `card`: on a card beside
 * the result. `push`: in forms while the tool call is open. `rounds`: in forms between the requests of the tool call.
 * `none`: not at all.
 */
type WayToAsk = 'mcp-task' | 'card' | ToolCallContext['client']['forms'];

function wayToAsk({ client, bridge }: ToolCallContext, asTask: boolean): WayToAsk {
  const { approvals } = bridge.rules;
  if (approvals === 'tool-only') return 'none';
  if (client.tasks && asTask) return 'mcp-task';
  // The card is a page of MCP Apps beside the result. A person can decide on it, and it shows more than a form. The
  // client shows it only after the tool call has returned. So the tool call does not stay open for a form.
  if (client.cards && approvals === 'auto') return 'card';
  // A client with the tasks extension shows the forms of the MCP task. A second form would ask the person twice.
  return client.tasks ? 'none' : client.forms;
}

/**
 * Waits for the session of a tool call, and builds the reply.
 * @throws the error with which the agent refused the message
 */
export async function awaitSession(
  call: ToolCallContext,
  awaited: AwaitedSession,
): Promise<ToolAnswer<SessionResult>> {
  const { session, timeout, notes = () => [], asTask = true, outcome = false } = awaited;
  const { client, bridge } = call;
  const way = wayToAsk(call, asTask);
  const again = awaited.showsPending === true && session.settled ? 'if-nothing-new' : 'never';
  if (way === 'mcp-task') return replyWithTask(call, awaited, again);
  const end = await waitForAwaitedSession(call, awaited);
  // Only a person may decide, and this client shows no forms. So the webhook posts immediately.
  if (way === 'none' && !client.tasks && bridge.rules.approvals === 'human-only')
    bridge.webhook?.postImmediately(session);
  const reply = async (more: readonly string[] = [], ended = end): Promise<ToolAnswer<SessionResult>> => {
    const stalled = await stalledTaskNotes(session, ended);
    return sessionReply(call, session, {
      end: ended,
      notes: [...notes(), ...more, ...stalled],
      outcome,
      again,
    });
  };
  if (way === 'push' && timeout > 0) {
    const asked = await askPersonInCall(askOptions(call, awaited), end);
    return reply(asked.notes, asked.end);
  }
  if (way === 'rounds' && timeout > 0) return nextRound(call, { session, end, count: 1, reply });
  return reply(way === 'card' && asksPerson(session.view) ? [onCardNote(call)] : []);
}

/** Replies at once: with an MCP task, or with a result if the client needs no new MCP task. */
async function replyWithTask(
  call: ToolCallContext,
  awaited: AwaitedSession,
  again: 'if-nothing-new' | 'never',
): Promise<ToolAnswer<SessionResult>> {
  const { session, notes = () => [], outcome = false, showsPending = false } = awaited;
  const end = await waitForAwaitedSession(call, { ...awaited, timeout: 0 });
  const { view } = session;
  // In three cases, the reply is a result and no new MCP task. First, the task has ended. Second, the caller asks about
  // an existing task (`showsPending`) that waits, so the result shows the preview. Third, the caller asks about a task
  // that the client already follows. A second MCP task would notify the person twice. With `human-only`, the second
  // case does not apply, because the person at this client can decide only in the form of the MCP task.
  const isOver = isSessionOver(session.state);
  const preview = showsPending && call.bridge.rules.approvals !== 'human-only' && asksPerson(view);
  const followed = showsPending && call.followed?.isFollowed(session) === true;
  if (!isOver && (view === undefined || (!preview && !followed))) return createTaskReply(call, session, end);
  const next = followed && !isOver && !asksPerson(view) ? IN_BACKGROUND : undefined;
  return sessionReply(call, session, { end, notes: notes(), next, outcome, again });
}

function onCardNote({ name }: ToolCallContext): string {
  return `Your client shows this on an approval card, and the person can decide there. ${name('wait_for_task')} then says how it goes on.`;
}

/** Continues a tool call whose client has sent answers to its forms. */
export async function continueAfterFormRound(
  call: ToolCallContext,
  round: AnsweredSessionRound,
  waitSeconds: number | undefined,
): Promise<ToolAnswer<SessionResult>> {
  const session = await call.bridge.sessions.find(round.sessionId, { agent: round.agent });
  call.awaits({ session });
  await session.refresh();
  const timeout = call.waitMs(waitSeconds);
  const { end, notes, goesOn } = await processFormRound(askOptions(call, { session, timeout }), round);
  const reply = async (more: readonly string[] = []): Promise<ToolAnswer<SessionResult>> => {
    const stalled = await stalledTaskNotes(session, end);
    return sessionReply(call, session, { end, notes: [...notes, ...more, ...stalled], outcome: true });
  };
  return goesOn && round.count < MAX_ROUNDS
    ? nextRound(call, { session, end, count: round.count + 1, reply })
    : reply();
}

interface NextRound {
  session: Session;
  end: WaitEndReason;
  count: number;
  reply: (notes?: readonly string[]) => Promise<ToolAnswer<SessionResult>>;
}

async function nextRound(call: ToolCallContext, at: NextRound): Promise<ToolAnswer<SessionResult>> {
  const { session, end, count, reply } = at;
  if (end !== 'settled') return reply();
  const { formHistory, links } = call.bridge;
  const { opensUrls } = call.client;
  const { forms, unoffered } = await buildOfferedForms({ session, formHistory, links, opensUrls });
  if (forms.length === 0) return reply(commandLineNotes(unoffered));
  const asks = forms.map(({ ask }) => ask);
  formHistory.recordShown(session.view?.taskId ?? '', asks);
  const inputRequests = Object.fromEntries(forms.map(({ ask, params }) => [ask.key, requestOf(params)]));
  const { id: sessionId, agent } = session;
  const requestState = await call.signed({ about: 'session', sessionId, agent: agent.name, count });
  return { interim: inputRequired({ inputRequests, requestState }) };
}

/** Returns why the task has made no progress, if the wait is over and the agent tells the reason. */
async function stalledTaskNotes(session: Session, end: WaitEndReason): Promise<readonly string[]> {
  const problem = end === 'time' ? await fetchJournalProblem(session.agent) : undefined;
  return problem === undefined ? [] : [problem];
}

function requestOf(params: Form | UrlForm): InputRequest {
  // `elicitUrl` builds a form in URL mode. It is used because the SDK's own type requires the `elicitationId` of
  // older MCP revisions, which 2026-07-28 does not have.
  return params.mode === 'url' ? inputRequired.elicitUrl(params) : { method: 'elicitation/create', params };
}

function askOptions(call: ToolCallContext, { session, timeout }: AwaitedSession): AskInCallOptions {
  const { client, signal, bridge } = call;
  const wait = (): Promise<WaitEndReason> => waitForAwaitedSession(call, { session, timeout });
  const { formHistory, links, rules } = bridge;
  return { session, client, signal, timeout, wait, formHistory, links, rules };
}

function waitForAwaitedSession(
  call: ToolCallContext,
  { session, delivery, timeout, atLeast }: AwaitedSession,
): Promise<WaitEndReason> {
  const { signal, report } = call;
  return waitForSession({ session, delivery, timeout, atLeast, signal, onActivity: report });
}
