/**
 * Asks the person in a form during a tool call. If the person gives no valid answer, the tool call sends no more forms,
 * and returns the pending actions. The person can still decide on the page or on the command line.
 */
import { unlessAborted } from '../../shared/runtime/abort.ts';
import type { Session } from '../sessions/session/session.ts';
import { waitUntil, type WaitEndReason } from '../sessions/wait-for-session.ts';
import type { ToolCallClient } from './tool-call-client.ts';
import type { FormCandidate } from './form.ts';
import type { ApprovalSettings } from '../settings/approval-mode.ts';
import {
  commandLineNotes,
  buildOfferedForms,
  type OfferedForm,
  type SessionForms,
} from './forms-to-offer.ts';
import type { FormHistory } from './form-history.ts';
import type { AnsweredSessionRound } from './request-state.ts';
import { noteLateFailure, sentInTime, unconfirmedDecisionNote } from './sent-in-time.ts';
import type { SubmitFormAnswersOptions, SubmittedAnswers } from './submit-form-answers.ts';
import { showForm } from './withdrawable-form.ts';

export interface AskInCallOptions extends SessionForms {
  client: ToolCallClient;
  rules: ApprovalSettings;
  signal: AbortSignal;
  /** The maximum duration of each wait for the agent or for a decision on its page, in milliseconds. */
  timeout: number;
  /** Waits for the task after a decision, for at most `timeout`. */
  wait: () => Promise<WaitEndReason>;
}

interface AskInCallEnd {
  end: WaitEndReason;
  notes: readonly string[];
}

/**
 * Sends `elicitation/create` requests, one after the other. For clients that show forms during a tool call (`forms:
 * 'push'`).
 * @param end the reason why the tool call's first wait for the task has ended
 */
export async function askPersonInCall(asking: AskInCallOptions, end: WaitEndReason): Promise<AskInCallEnd> {
  const { session, wait, client, signal } = asking;
  const asked = new Set<string>();
  let lastEnd = end;
  while (lastEnd === 'settled') {
    const { forms, unoffered } = await buildOfferedForms({ ...asking, opensUrls: client.opensUrls });
    const form = forms.find(({ ask }) => !asked.has(ask.key));
    if (form === undefined) return { end: lastEnd, notes: commandLineNotes(unoffered) };
    const { key } = form.ask;
    const name = JSON.stringify([session.agent.name, session.view?.taskId, key]);
    const other = client.openForms.get(name);
    if (other === undefined) {
      asked.add(key);
      const asks = askInForm(asking, form);
      client.openForms.set(name, asks);
      const over = await asks.finally(() => client.openForms.delete(name));
      if (over !== undefined) return over;
    } else {
      // Another tool call of this client shows this form, and the person must not see it twice. If the client cancels
      // that tool call, the form disappears. Then this tool call shows it.
      const over = await unlessAborted(other, signal).catch(() => undefined);
      if (signal.aborted) return { end: 'gone', notes: [] };
      if (over?.end !== 'gone') asked.add(key);
    }
    lastEnd = await wait();
  }
  return { end: lastEnd, notes: [] };
}

/**
 * Shows one form, and sends its answer. Returns undefined if the action or question no longer waits. The tool call then
 * waits for the task again.
 */
async function askInForm(asking: AskInCallOptions, form: OfferedForm): Promise<AskInCallEnd | undefined> {
  const { session, formHistory, client } = asking;
  const { key } = form.ask;
  const shown = await showForm({ ...asking, form });
  if (shown.type === 'gone') return { end: 'gone', notes: [] };
  if (shown.type === 'failed')
    return { end: 'settled', notes: [`The form for the person could not be shown: ${shown.message}`] };
  if (shown.type === 'withdrawn') return undefined;
  const settled = await submit({
    ...asking,
    responses: { [key]: shown.response },
    channel: 'elicitation',
  });
  if (settled === 'unconfirmed') return { end: 'time', notes: [unconfirmedDecisionNote(session)] };
  const decided =
    settled.opened.length > 0 ? await waitForDecisionOnPage(asking, settled.opened) : settled.decided > 0;
  if (!decided) return { end: 'settled', notes: notesOf(settled, session, formHistory) };
  if (settled.opened.length > 0) await client.completed(key);
  return undefined;
}

/**
 * Processes the form answers that came with the client's next request. For clients that get the forms as a response
 * (`forms: 'rounds'`).
 */
export async function processFormRound(
  asking: AskInCallOptions,
  { responses }: AnsweredSessionRound,
): Promise<AskInCallEnd & { goesOn: boolean }> {
  const { session, formHistory, wait } = asking;
  const settled = await submit({ ...asking, responses, channel: 'elicitation' });
  if (settled === 'unconfirmed')
    return { end: 'time', notes: [unconfirmedDecisionNote(session)], goesOn: false };
  const decided = settled.opened.length === 0 || (await waitForDecisionOnPage(asking, settled.opened));
  const end = await wait();
  // After a form without a valid answer, the same tool call sends no new form.
  const goesOn = settled.unanswered.length === 0 && settled.refused === undefined && decided;
  return { end, notes: notesOf(settled, session, formHistory), goesOn };
}

/**
 * Sends the decisions in the answers. Returns `unconfirmed` if the agent does not confirm them in time.
 *
 * `submit-form-answers.ts` is imported only when a form is answered. Its code for the width of text takes long to load.
 */
async function submit({
  timeout,
  signal,
  ...answers
}: SubmitFormAnswersOptions & Pick<AskInCallOptions, 'timeout' | 'signal'>): Promise<
  SubmittedAnswers | 'unconfirmed'
> {
  const { submitFormAnswers } = await import('./submit-form-answers.ts');
  const { session, formHistory } = answers;
  const submitting = submitFormAnswers(answers);
  const settled = await sentInTime(submitting, { timeout, signal });
  if (settled === 'unconfirmed')
    noteLateFailure(
      session,
      submitting.then((late) => session.leaveNotes(notesOf(late, session, formHistory))),
    );
  return settled;
}

/**
 * Waits while a person decides on the agent's approval page. The agent reports the decision in the task's events.
 * @returns true if at least one of the opened actions is decided; false after a timeout or an abort of the signal
 */
async function waitForDecisionOnPage(
  { session, formHistory, timeout, signal }: AskInCallOptions,
  opened: readonly FormCandidate[],
): Promise<boolean> {
  const taskId = session.view?.taskId ?? '';
  const keys = new Set(opened.map(({ key }) => key));
  const decided = (): boolean => {
    if (session.view?.taskId !== taskId) return true;
    const open = formHistory.lastOffered(taskId, session.pendingInput).filter(({ key }) => keys.has(key));
    return open.length < keys.size;
  };
  const stopReading = session.watch();
  await waitUntil(session, decided, { timeoutMs: timeout, signal });
  stopReading();
  return decided();
}

function notesOf(
  { opened, unanswered, refused, late }: SubmittedAnswers,
  session: Session,
  formHistory: FormHistory,
): readonly string[] {
  const waiting = stillAsked(opened, session, formHistory);
  return [
    ...late,
    ...waiting.map(() => 'The person has opened the page, and has not decided there yet.'),
    ...[...new Set(unanswered)].map((why) => WORDS[why]),
    ...(refused === undefined ? [] : [`The answer in the form did not count: ${refused}`]),
  ];
}

function stillAsked(
  opened: readonly FormCandidate[],
  session: Session,
  formHistory: FormHistory,
): readonly FormCandidate[] {
  const asks = formHistory.lastOffered(session.view?.taskId ?? '', session.pendingInput);
  return opened.filter(({ callId }) => asks.some((ask) => ask.callId === callId));
}

const WORDS: Readonly<Record<SubmittedAnswers['unanswered'][number], string>> = {
  cancelled: 'The form was closed without an answer, and nothing was decided by it.',
  'too narrow':
    'The window had become narrower, and the client cut rows of the form. So the approval does not count. Nothing was decided by it.',
  // Codex declines a form in URL mode by itself.
  'too fast':
    'The form was answered faster than anybody reads, perhaps by the client itself. The answer does not count. Nothing was decided by it.',
  'not understood':
    'The answer in the form was no clear decision, and does not count. Nothing was decided by it.',
};
