/** Follows a task while the page shows it. After an outage of the server, the page shows the task's current state. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type A2aClient, ClientError } from '../../../../shared/client/index.ts';
import type { Execution, Progress, TaskReport } from '../../../../shared/client/index.ts';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';

/** The delay between attempts after the client has given up, in milliseconds. */
const RETRY_MS = 5_000;

/** An outage of the connection to the server. `since` is in milliseconds since 1970. */
export interface ConnectionOutage {
  since: number;
  /** What the server answered. '' without an answer. */
  message: string;
}

export interface FollowedTask {
  execution: Execution | undefined;
  /** The newest known state of the task. Undefined before the server's first answer. */
  report: TaskReport | undefined;
  outage: ConnectionOutage | undefined;
  /** The reason why the page cannot follow the task. For example, the task was deleted. */
  failure: string | undefined;
}

/** @param onProgress gets each progress event except those about a lost connection */
export function useFollowedTask(
  client: A2aClient,
  taskId: string,
  onProgress: (progress: Progress) => void,
): FollowedTask {
  const [execution, setExecution] = useState<Execution>();
  const [report, setReport] = useState<TaskReport>();
  const [outage, setOutage] = useState<ConnectionOutage>();
  const [failure, setFailure] = useState<string>();
  const listener = useRef(onProgress);
  listener.current = onProgress;

  useEffect(() => {
    let attached: Execution | undefined;
    let timer: number | undefined;
    let shown = true;
    const lost = ({ code, message }: ClientError): void =>
      setOutage((before) => ({
        since: before?.since ?? Date.now(),
        message: code === 'unreachable' ? '' : message,
      }));
    const attach = (): void => {
      timer = undefined;
      const current = client.attach(
        { taskId },
        {
          onProgress: (progress) => {
            if (progress.type === 'reconnecting') return lost(progress.error);
            setOutage(undefined);
            setReport(current.report);
            listener.current(progress);
          },
        },
      );
      attached = current;
      setExecution(current);
      current.result.then(setReport, (error: unknown) => {
        if (!shown) return;
        if (error instanceof ClientError && error.retryable) {
          lost(error);
          timer = window.setTimeout(attach, RETRY_MS);
        } else {
          setOutage(undefined);
          setFailure(errorMessageOf(error));
        }
      });
    };
    /**
     * Attaches at once when the page becomes visible, because a browser delays the timers of a hidden page and of a
     * sleeping machine.
     */
    const attachNow = (): void => {
      if (timer === undefined || document.visibilityState !== 'visible') return;
      window.clearTimeout(timer);
      attach();
    };
    window.addEventListener('online', attachNow);
    document.addEventListener('visibilitychange', attachNow);
    attach();
    return () => {
      shown = false;
      window.clearTimeout(timer);
      window.removeEventListener('online', attachNow);
      document.removeEventListener('visibilitychange', attachNow);
      attached?.detach();
    };
  }, [client, taskId]);
  return { execution, report, outage, failure };
}
