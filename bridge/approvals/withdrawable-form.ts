/**
 * Shows a form while the person can also decide in other ways, e.g. on the page. If a decision is made elsewhere, the
 * bridge withdraws the form.
 */
import { onAbort } from '../../shared/runtime/abort.ts';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import type { ToolCallClient } from './tool-call-client.ts';
import type { OfferedForm, SessionForms } from './forms-to-offer.ts';

type ShownFormOutcome =
  | { type: 'answered'; response: unknown }
  /** The form is withdrawn, because a decision was made elsewhere or the task has ended. */
  | { type: 'withdrawn' }
  /** The form is withdrawn, because the tool call has ended or was cancelled. */
  | { type: 'gone' }
  | { type: 'failed'; message: string };

interface ShowFormOptions extends Pick<SessionForms, 'session' | 'formHistory'> {
  form: OfferedForm;
  client: Pick<ToolCallClient, 'elicit'>;
  signal: AbortSignal;
}

export async function showForm({
  session,
  form,
  formHistory,
  client,
  signal,
}: ShowFormOptions): Promise<ShownFormOutcome> {
  const { ask, params } = form;
  const taskId = session.view?.taskId ?? '';
  const shown = new AbortController();
  const open = (): boolean =>
    session.view?.taskId === taskId &&
    formHistory.lastOffered(taskId, session.pendingInput).some(({ key }) => key === ask.key);
  const withdraw = (): void => {
    if (!open()) shown.abort(new Error('It was decided elsewhere.'));
  };
  const stopListening = session.listen(withdraw);
  const stopWatching = onAbort(signal, () => shown.abort(signal.reason));
  const stopReading = session.watch();
  try {
    // The decision may have been made since the caller built the form.
    if (!open()) return { type: 'withdrawn' };
    formHistory.recordShown(taskId, [ask]);
    return { type: 'answered', response: await client.elicit(params, shown.signal, ask.key) };
  } catch (error) {
    if (signal.aborted) return { type: 'gone' };
    return shown.signal.aborted ? { type: 'withdrawn' } : { type: 'failed', message: errorMessageOf(error) };
  } finally {
    stopReading();
    stopListening();
    stopWatching();
  }
}
