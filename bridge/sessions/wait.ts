/** Waiting for a session within a bound: until it settles, cannot be followed, the time is up, or the caller has gone. */
import { onAbort } from '../../shared/abort.ts';
import type { Activity } from '../../shared/protocol/tool-approval.ts';
import type { Session } from './session.ts';

export type WaitEnd = 'settled' | 'trouble' | 'time' | 'gone';

export interface Waiting {
  session: Session;
  /** A message on its way: nothing the session says before it has arrived is an answer to it. */
  delivery?: Promise<void>;
  /** Milliseconds. */
  timeout: number;
  /** The caller going away; the task goes on (detach). */
  signal: AbortSignal;
  onActivity?: (activity: Activity) => void;
}

/** @throws what the delivery was refused with */
export function waitFor({ session, delivery, timeout, signal, onActivity }: Waiting): Promise<WaitEnd> {
  return new Promise((resolve, reject) => {
    let delivered = delivery === undefined;
    const look = (): void => {
      if (!delivered) return;
      if (session.settled) end('settled');
      else if (session.trouble !== undefined) end('trouble');
    };
    const end = (how: WaitEnd): void => {
      release();
      resolve(how);
    };
    const timer = setTimeout(() => end('time'), timeout);
    const stopListening = session.listen((change) => {
      if (change.type === 'activity') onActivity?.(change.activity);
      else look();
    });
    const stopWatching = onAbort(signal, () => queueMicrotask(() => end('gone')));
    const release = (): void => {
      clearTimeout(timer);
      stopListening();
      stopWatching();
    };
    delivery?.then(
      () => {
        delivered = true;
        return look();
      },
      (error: unknown) => {
        release();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
    look();
  });
}
