/**
 * Sends progress notifications for a tool call, if the client sent a progress token. R62: `0` and `''` are valid
 * tokens. A notification follows each event. Without events, a notification is sent every ten seconds, because clients
 * abandon a silent tool call.
 *
 * MCP requires that `progress` increases with each notification. If the task has only one call, the tool may report its
 * steps, such as page 3 of 10. `progress` and `total` then contain these steps. Every other notification adds
 * `SMALL_STEP` to `progress`.
 */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { ToolCallEvent, ToolProgress } from '../../../shared/protocol/tool-approval.ts';
import { visibleLine, escapeHiddenCharacters } from '../../../shared/text/visible-text.ts';
import { toolCallEventText } from '../../sessions/session/tool-call-event-text.ts';
import { callCounts, phaseText } from '../reports/phase.ts';
import { runningExecutions, TOOL_EXECUTIONS_META_KEY } from '../reports/tool-executions.ts';
import type { TaskView } from '../../sessions/session/observed-task.ts';

const MAX_INTERVAL_MS = 10_000;
const SMALL_STEP = 0.001;
const MAX_LINE_CHARACTERS = 300;
const MAX_NAMED_EVENTS = 3;

type ProgressSession = Parameters<typeof runningExecutions>[0];

interface ToolCallProgress {
  report: (activity: ToolCallEvent) => void;
  /**
   * Sets the session that the tool call waits for. The notifications then describe its phase and its tool calls. If the
   * task already works, the first notification is sent at once, because the next event may come much later.
   */
  about: (session: ProgressSession) => void;
  /**
   * Stops the notifications. If `finalText` is given, sends it first, and resolves when it is sent. If sending fails,
   * nothing more is sent.
   */
  end: (finalText?: string) => Promise<void>;
}

export function startProgress(context: ServerContext, title: string): ToolCallProgress {
  const { _meta: meta } = context.mcpReq;
  const token = meta?.progressToken;
  if (token === undefined)
    return { report: () => undefined, about: () => undefined, end: () => Promise.resolve() };

  const since = performance.now();
  let sent = 0;
  let steps: ToolProgress | undefined;
  let ended = false;
  let sending = false;
  let happened: string[] = [];
  let lastStep: string | undefined;
  let session: ProgressSession | undefined;

  const notify = (message: string): Promise<void> => {
    const told = session?.view?.calls.length === 1 ? steps : undefined;
    sent = Math.max(Number((sent + SMALL_STEP).toFixed(3)), told?.done ?? 0);
    const total = told !== undefined && told.total >= sent ? { total: told.total } : {};
    const running = session === undefined ? [] : runningExecutions(session);
    const seconds = Math.round((performance.now() - since) / 1000);
    return context.mcpReq.notify({
      method: 'notifications/progress',
      params: {
        progressToken: token,
        progress: sent,
        ...total,
        message: `${escapeHiddenCharacters(message)} (${String(seconds)} s)`,
        ...(session !== undefined && { _meta: { [TOOL_EXECUTIONS_META_KEY]: running } }),
      },
    });
  };
  const send = async (): Promise<void> => {
    // One notification covers all events since the previous one. So a slow client gets fewer notifications.
    if (ended || sending) return;
    sending = true;
    try {
      do {
        const news = happened.slice(-MAX_NAMED_EVENTS);
        happened = [];
        await notify(progressText(title, news, session?.view));
      } while (happened.length > 0 && !isOver());
    } catch {
      // The notification failed, because the client has disconnected. The signal of the tool call then ends the wait.
      stop();
    } finally {
      sending = false;
    }
  };
  const isOver = (): boolean => ended;
  const timer = setInterval(() => void send(), MAX_INTERVAL_MS);
  timer.unref();
  const stop = (): void => {
    ended = true;
    clearInterval(timer);
  };
  let last = Promise.resolve();
  return {
    about(of) {
      session = of;
      if (of.view?.state === 'working') void send();
    },
    report(activity) {
      const words = stepText(activity) ?? toolCallEventText(activity);
      if (words === undefined || ended) return;
      if (activity.type === 'tool.output') {
        steps = activity.progress;
        happened = happened.filter((each) => each !== lastStep);
        lastStep = words;
      }
      happened.push(words);
      void send();
    },
    end(finalText) {
      const over = ended;
      stop();
      if (finalText !== undefined && !over) last = notify(`${title}: ${finalText}`).catch(() => undefined);
      return last;
    },
  };
}

/** Returns the tool's own progress line, such as `page 3 of 10: https://…`. */
function stepText(activity: ToolCallEvent): string | undefined {
  if (activity.type !== 'tool.output' || activity.progress === undefined) return undefined;
  return visibleLine(activity.text.trimEnd().split('\n').at(-1) ?? '', MAX_LINE_CHARACTERS);
}

/** Returns the latest events, or the phase of the task if there are none, and then the numbers of its tool calls. */
function progressText(title: string, news: readonly string[], view: TaskView | undefined): string {
  const now = view === undefined ? 'waiting' : phaseText(view);
  const words = news.length > 0 ? news : [`${title}: ${now}`];
  return [...words, ...callCounts(view)].join(' · ');
}
