/**
 * Progress of one call, for clients that asked for it with a token; any token, `0` and `''` too (R62). It goes out when
 * something happens, and at least every ten seconds: clients give up on a call that is silent for long.
 */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { Activity } from '../../../shared/protocol/tool-approval.ts';
import { withoutHidden } from '../../../shared/text/visible-text.ts';
import { activityText } from '../../sessions/activity-text.ts';
import { callCounts, phaseOf } from '../reports/phase.ts';
import type { TaskView } from '../../sessions/task-view.ts';

const AT_LEAST_EVERY_MS = 10_000;
/** Tools named in one message. */
const NAMED = 3;

export interface Progress {
  report: (activity: Activity) => void;
  /** The call waits for this from here on: what it is doing is told when nothing happens, and its tools are counted. */
  about: (session: { readonly view: TaskView | undefined }) => void;
  /**
   * Nothing goes out after this, but the last words, if there are any.
   * Resolves when those are out; to a client that has gone they do not go.
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
  /** What has happened since the last message. */
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
    // A client that reads slowly gets fewer messages, each about all that happened since the one before.
    if (ended || sending) return;
    sending = true;
    try {
      do {
        const news = happened.slice(-NAMED);
        happened = [];
        await notify(standing(title, news, session?.view));
      } while (happened.length > 0 && !isOver());
    } catch {
      // The client has gone: whoever waits for the call learns it from its signal.
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

/** What has just happened, or else what goes on, and how many tools that makes. */
function standing(title: string, news: readonly string[], view: TaskView | undefined): string {
  const now = view === undefined ? 'waiting' : phaseOf(view);
  const words = news.length > 0 ? news : [`${title}: ${now}`];
  return [...words, ...callCounts(view)].join(' · ');
}
