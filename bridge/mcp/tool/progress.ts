/**
 * Sends the progress of one call to a client that sent a progress token; `0` and `''` are tokens too (R62). Sends
 * a message when something happens, and at least every ten seconds: clients give up on a silent call.
 */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { Activity } from '../../../shared/protocol/tool-approval.ts';
import { withoutHidden } from '../../../shared/text/visible-text.ts';
import { activityText } from '../../sessions/activity-text.ts';
import { callCounts, phaseOf } from '../reports/phase.ts';
import type { TaskView } from '../../sessions/task-view.ts';

const AT_LEAST_EVERY_MS = 10_000;
/** The most events that one message names. */
const NAMED = 3;

export interface Progress {
  report: (activity: Activity) => void;
  /** Sets the session that the call waits for. Messages then show its phase and count its tool calls. */
  about: (session: { readonly view: TaskView | undefined }) => void;
  /**
   * Stops the progress, after `lastWords` if given. Resolves when that message is sent. After a failed send
   * nothing more is sent.
   */
  end: (lastWords?: string) => Promise<void>;
}

export function startProgress(context: ServerContext, title: string): Progress {
  const { _meta: meta } = context.mcpReq;
  const token = meta?.progressToken;
  if (token === undefined)
    return { report: () => undefined, about: () => undefined, end: () => Promise.resolve() };

  const since = performance.now();
  let sent = 0;
  let ended = false;
  let sending = false;
  /** Events since the last message. */
  let happened: string[] = [];
  let session: { readonly view: TaskView | undefined } | undefined;

  const notify = (message: string): Promise<void> => {
    sent += 1;
    const seconds = Math.round((performance.now() - since) / 1000);
    return context.mcpReq.notify({
      method: 'notifications/progress',
      params: {
        progressToken: token,
        progress: sent,
        message: `${withoutHidden(message)} (${String(seconds)} s)`,
      },
    });
  };
  const send = async (): Promise<void> => {
    // A slow client gets fewer messages. Each message covers the events since the one before.
    if (ended || sending) return;
    sending = true;
    try {
      do {
        const news = happened.slice(-NAMED);
        happened = [];
        await notify(standing(title, news, session?.view));
      } while (happened.length > 0 && !isOver());
    } catch {
      // The client has disconnected. The call's own signal tells its waiters.
      stop();
    } finally {
      sending = false;
    }
  };
  const isOver = (): boolean => ended;
  const timer = setInterval(() => void send(), AT_LEAST_EVERY_MS);
  timer.unref();
  const stop = (): void => {
    ended = true;
    clearInterval(timer);
  };
  let last = Promise.resolve();
  return {
    about: (of) => (session = of),
    report(activity) {
      const words = activityText(activity);
      if (words === undefined || ended) return;
      happened.push(words);
      void send();
    },
    end(lastWords) {
      const over = ended;
      stop();
      if (lastWords !== undefined && !over) last = notify(`${title}: ${lastWords}`).catch(() => undefined);
      return last;
    },
  };
}

/** The latest events, or else the task's phase, and the counts of its tool calls. */
function standing(title: string, news: readonly string[], view: TaskView | undefined): string {
  const now = view === undefined ? 'waiting' : phaseOf(view);
  const words = news.length > 0 ? news : [`${title}: ${now}`];
  return [...words, ...callCounts(view)].join(' · ');
}
