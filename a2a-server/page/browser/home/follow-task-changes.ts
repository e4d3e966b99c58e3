/**
 * Follows the changes of tasks with one stream for all tabs of this browser. Each tab already has a stream for its
 * task, and with HTTP/1.1, browsers open at most six connections to a server. Only the tab that holds a lock of the
 * browser (`navigator.locks`) reads the stream, and notifies the other tabs. If this tab closes, another tab gets the
 * lock.
 */
import { serverSentEventsOf } from '../../../../shared/net/server-sent-events.ts';
import { randomBackOffDelay } from '../../../../shared/runtime/back-off.ts';
import { PAGE_API_URL, signedInFetch } from '../sign-in/sign-in.ts';

/** The time without data after which the stream is treated as broken. The server sends a heartbeat every 15 s. */
const QUIET_MS = 45_000;
const BACK_OFF = { firstMs: 500, mostMs: 5_000 };

/**
 * The name of the lock, and the key of the stored value that notifies the other tabs. Browsers offer locks only to
 * pages of HTTPS and of this machine. Without locks, each tab has its own stream.
 */
const LOCK_NAME = `task-changes ${PAGE_API_URL}`;

/**
 * A message between the tabs. `changed` is also sent after each new connection, because changes may have been missed.
 */
type TabMessage = 'changed' | 'disconnected';

/** Calls `act` for each change and each disconnect, until the returned function is called. */
export function followTaskChanges(act: (news: TabMessage) => void): () => void {
  const end = new AbortController();
  const { signal } = end;
  const onStorage = ({ key, newValue }: StorageEvent): void => {
    if (key === LOCK_NAME) act(newValue?.startsWith('disconnected') === true ? 'disconnected' : 'changed');
  };
  window.addEventListener('storage', onStorage);
  const tell = (news: TabMessage): void => {
    if (signal.aborted) return;
    act(news);
    // The browser notifies the other tabs only if the stored value is new. The time makes each value new.
    localStorage.setItem(LOCK_NAME, `${news} ${Date.now()}`);
  };
  const lead = (): Promise<void> => readUntil(signal, tell);
  const leading = 'locks' in navigator ? navigator.locks.request(LOCK_NAME, { signal }, lead) : lead();
  // The request for the lock rejects if the page stops following the changes before it gets the lock.
  leading.catch(() => undefined);
  return () => {
    end.abort();
    window.removeEventListener('storage', onStorage);
  };
}

async function readUntil(signal: AbortSignal, tell: (news: TabMessage) => void): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    try {
      const response = await signedInFetch(`${PAGE_API_URL}/task-changes`, { signal });
      // The sign-in has ended. The page then reads the task list, and that request reports the end of the sign-in.
      if (response.status === 401) return tell('changed');
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      const events = serverSentEventsOf(response, { quietMs: QUIET_MS, signal });
      while ((await events.next()).done !== true) {
        failures = 0;
        tell('changed');
      }
    } catch {
      // Each failure leads to another attempt.
    }
    if (signal.aborted) return;
    tell('disconnected');
    failures += 1;
    await pauseOrReturn(randomBackOffDelay(failures, BACK_OFF, Math.random()), signal);
  }
}

/** Waits for `ms`, or until the person comes back to the page, or until the browser is online again. */
function pauseOrReturn(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = new AbortController();
    const over = (): void => {
      clearTimeout(timer);
      end.abort();
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener('abort', over, { signal: end.signal });
    window.addEventListener('online', over, { signal: end.signal });
    document.addEventListener('visibilitychange', over, { signal: end.signal });
  });
}
