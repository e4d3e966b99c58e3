/** A form that is shown to a person while other ways to decide stay open: what is decided there withdraws the form. */
import { onAbort } from '../../shared/abort.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Session } from '../sessions/session.ts';
import type { Client } from './client.ts';
import type { Ask } from './form.ts';
import type { Offers } from './offers.ts';

export type Shown =
  | { type: 'answered'; response: unknown }
  /** Decided otherwise meanwhile, or the task has ended. */
  | { type: 'withdrawn' }
  /** The caller has gone, and the form with it. */
  | { type: 'gone' }
  | { type: 'failed'; message: string };

export interface Showing {
  session: Session;
  ask: Ask;
  offers: Offers;
  client: Pick<Client, 'elicit'>;
  /** The call's. */
  signal: AbortSignal;
}

export async function showForm({ session, ask, offers, client, signal }: Showing): Promise<Shown> {
  const taskId = session.view?.taskId ?? '';
  const form = new AbortController();
  const open = (): boolean =>
    session.view?.taskId === taskId && offers.asks(taskId, session.asked).some(({ key }) => key === ask.key);
  const withdraw = (): void => {
    if (!open()) form.abort(new Error('It has been decided otherwise.'));
  };
  const stopListening = session.listen(withdraw);
  const stopWatching = onAbort(signal, () => form.abort(signal.reason));
  const stopReading = session.watch();
  try {
    offers.out(taskId, [ask]);
    return { type: 'answered', response: await client.elicit(ask.form, form.signal) };
  } catch (error) {
    if (signal.aborted) return { type: 'gone' };
    return form.signal.aborted ? { type: 'withdrawn' } : { type: 'failed', message: messageOf(error) };
  } finally {
    stopReading();
    stopListening();
    stopWatching();
  }
}
