/**
 * Waits for the session of a tool call. A client with the tasks extension gets a task. Otherwise the call waits up
 * to its time limit, and asks the person in forms if the client shows them (`docs/approvals.md`).
 */
import { type InputRequest, inputRequired } from '@modelcontextprotocol/server';
import { askInCall, type FormRequest, takeRound } from '../../approvals/ask-in-call.ts';
import type { Form, UrlForm } from '../../approvals/form-field.ts';
import { commandLineNotes, offeredForms } from '../../approvals/offered-forms.ts';
import type { SessionRound } from '../../approvals/request-state.ts';
import type { SessionResult } from '../reports/session-result.ts';
import type { Session } from '../../sessions/session.ts';
import { isOver } from '../../sessions/session-state.ts';
import type { TaskView } from '../../sessions/task-view.ts';
import { waitForSession, type WaitEnd, type WaitOptions } from '../../sessions/wait-for-session.ts';
import { createdTask } from '../tasks/created-task.ts';
import { sessionReply } from '../tool/session-reply.ts';
import type { ToolCall } from '../tool/tool.ts';
import type { ToolReply } from '../tool/tool-result.ts';

interface AwaitedSession {
  session: Session;
  /** The delivery of a message. */
  delivery?: Promise<void>;
  /** The time limit of the wait, in milliseconds. */
  timeout: number;
  /** See `WaitOptions`. */
  atLeast?: WaitOptions['atLeast'];
  /** Returns notes for the reply. The call gets them when it builds its reply. */
  notes?: () => readonly string[];
  /** False if the caller needs the outcome itself. The call then returns the result, and no MCP task. */
  asTask?: boolean;
  /** See `SessionReplyOptions`. */
  outcome?: boolean;
  /**
   * The caller asks about an existing task. A pending action is returned at once with its preview, because a task would
   * not show it. A client that already follows the task does not get the task again.
   */
  showsPending?: boolean;
}

/**
 * The maximum number of rounds of one call. The SDK's client stops after ten requests for one call, so the bridge uses
 * fewer.
 */
const MOST_ROUNDS = 8;

const IN_BACKGROUND =
  'Your client follows this task in the background already, and notifies you when it needs a decision or has ended. Do not wait for it again.';

/** @throws the error that refused the delivery */
export async function awaitSession(
  call: ToolCall,
  awaited: AwaitedSession,
): Promise<ToolReply<SessionResult>> {
  const { session, timeout, notes = () => [], asTask = true, outcome = false } = awaited;
  const { client, bridge } = call;
  const again = awaited.showsPending === true && session.settled ? 'if-nothing-new' : 'never';
  // A client with the tasks extension shows the forms of the task. Another form would ask the person twice.
  const forms = bridge.rules.approvals === 'tool-only' || client.tasks ? 'none' : client.forms;
  if (asTask && client.tasks && bridge.rules.approvals !== 'tool-only') {
    const end = await waited(call, { ...awaited, timeout: 0 });
    const { view } = session;
    // For an ended task, the call returns the result itself. With `human-only`, this client can decide only in the form
    // that the task carries.
    const preview =
      awaited.showsPending === true && bridge.rules.approvals !== 'human-only' && isAsking(view);
    // The client already follows a task for this work. A second MCP task would notify the person twice.
    const followed = awaited.showsPending === true && call.followed?.isFollowed(session) === true;
    if (!isOver(session.state) && (view === undefined || (!preview && !followed)))
      return createdTask(call, session, end);
    const next = followed && !isOver(session.state) && !isAsking(view) ? IN_BACKGROUND : undefined;
    return sessionReply(call, session, { end, notes: notes(), next, outcome, again });
  }
  const end = await waited(call, awaited);
  // Only a person may decide, and this client shows no forms.
  if (forms === 'none' && !client.tasks && bridge.rules.approvals === 'human-only')
    bridge.webhook?.hurry(session);
  if (forms === 'push' && timeout > 0) {
    const asked = await askInCall(asking(call, awaited), end);
    return sessionReply(call, session, {
      end: asked.end,
      notes: [...notes(), ...asked.notes],
      outcome,
      again,
    });
  }
  const reply = (more: readonly string[] = []): ToolReply<SessionResult> =>
    sessionReply(call, session, { end, notes: [...notes(), ...more], outcome, again });
  return forms === 'rounds' && timeout > 0 ? nextRound(call, { session, end, count: 1, reply }) : reply();
}

/** Continues a call whose client now sends the answers to its forms. */
export async function awaitRound(
  call: ToolCall,
  round: SessionRound,
  waitSeconds: number | undefined,
): Promise<ToolReply<SessionResult>> {
  const session = await call.bridge.sessions.find(round.sessionId);
  call.awaits({ session });
  await session.refresh();
  const timeout = call.timeout(waitSeconds);
  const { end, notes, goesOn } = await takeRound(asking(call, { session, timeout }), round);
  const reply = (more: readonly string[] = []): ToolReply<SessionResult> =>
    sessionReply(call, session, { end, notes: [...notes, ...more], outcome: true });
  return goesOn && round.count < MOST_ROUNDS
    ? nextRound(call, { session, end, count: round.count + 1, reply })
    : reply();
}

interface NextRound {
  session: Session;
  end: WaitEnd;
  count: number;
  reply: (notes?: readonly string[]) => ToolReply<SessionResult>;
}

async function nextRound(call: ToolCall, at: NextRound): Promise<ToolReply<SessionResult>> {
  const { session, end, count, reply } = at;
  if (end !== 'settled') return reply();
  const { offers, links } = call.bridge;
  const { opensUrls } = call.client;
  const { forms, unoffered } = await offeredForms({ session, offers, links, opensUrls });
  if (forms.length === 0) return reply(commandLineNotes(unoffered));
  const asks = forms.map(({ ask }) => ask);
  offers.out(session.view?.taskId ?? '', asks);
  const inputRequests = Object.fromEntries(forms.map(({ ask, params }) => [ask.key, requestOf(params)]));
  const requestState = await call.signed({ about: 'session', sessionId: session.id, count });
  const interim = inputRequired({ inputRequests, requestState });
  const unseen = { ...call, news: () => [], onReceipt: () => undefined };
  return { ...sessionReply(unseen, session, { end }), interim };
}

function requestOf(params: Form | UrlForm): InputRequest {
  // The SDK's type has the `elicitationId` of older revisions. 2026-07-28 has none.
  return params.mode === 'url' ? inputRequired.elicitUrl(params) : { method: 'elicitation/create', params };
}

function isAsking(view: TaskView | undefined): boolean {
  return view !== undefined && (view.pending.length > 0 || view.question !== null);
}

function asking(call: ToolCall, { session, timeout }: AwaitedSession): FormRequest {
  const { client, signal, bridge } = call;
  const wait = (): Promise<WaitEnd> => waited(call, { session, timeout });
  const { offers, links, rules } = bridge;
  return { session, client, signal, timeout, wait, offers, links, rules };
}

function waited(call: ToolCall, { session, delivery, timeout, atLeast }: AwaitedSession): Promise<WaitEnd> {
  const { signal, report } = call;
  return waitForSession({
    session,
    ...(delivery === undefined ? {} : { delivery }),
    timeout,
    ...(atLeast && { atLeast }),
    signal,
    onActivity: report,
  });
}
