/** `watch`: prints the events of a session's task until the task has ended. A cut stream resumes. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { followTask } from '../../agents/follow-task.ts';
import { problemOf } from '../../sessions/session-state.ts';
import { fold, hasEnded, hasSettled, type TaskView } from '../../sessions/task-view.ts';
import { openCommandContext } from '../context/command-context.ts';
import { EXIT_TASK_FAILED, EXIT_TASK_WAITS, UsageError } from '../terminal/exit-codes.ts';
import { resolveSession } from '../decisions/resolve-id.ts';
import type { CommonOptions, CommandRun } from '../context/run-command.ts';
import { LiveText } from '../watch/live-text.ts';

export interface WatchOptions extends CommonOptions {
  from?: string;
  untilSettled?: boolean;
}

/** @throws ProductError; UsageError for an invalid cursor, or one that the agent does not know */
export async function watch(run: CommandRun<WatchOptions>, given: string): Promise<number> {
  const { options, terminal } = run;
  const from = cursorOf(options.from);
  const desk = await openCommandContext(run);
  const session = await resolveSession(desk.sessions, given);
  const { agent, view, id } = session;
  if (view === undefined || view.taskId === '')
    throw new ProductError(
      'UNKNOWN_TASK',
      `Session ${id} has no task yet. ${problemOf(session.state) ?? 'Look again in a moment.'}`,
    );
  // One stream is enough: the session's own is closed.
  await desk.close();
  const { deduplicates: resumes } = await agent.connect();
  if (from !== null && !resumes)
    throw new UsageError(`Agent "${agent.name}" does not number its events. Omit --from.`);
  const live = new LiveText(terminal, { decides: !hasEnded(view) });
  if (options.json !== true)
    terminal.say(terminal.paint('bold', `Session ${id} with ${agent.name}, task ${view.taskId}`));
  // Without a cursor, the stream of an ended task is empty: read the task from its first event.
  let at = from ?? (hasEnded(view) && resumes ? 0 : null);
  let end: TaskView | undefined;
  await followTask({
    agent,
    taskId: view.taskId,
    signal: new AbortController().signal,
    position: () => at,
    // Without cursors, the agent reports nothing about a waiting task until it is decided.
    enough: () =>
      end !== undefined &&
      (hasEnded(end) || ((options.untilSettled === true || !resumes) && hasSettled(end))),
    onEvent(event, { dialect }) {
      const observed = dialect.read(event);
      end = fold(end, observed);
      at = observed.seq ?? at;
      if (options.json === true) terminal.say(JSON.stringify(observed));
      else live.show(observed, end);
    },
    onCut: ({ message }) =>
      options.json !== true && live.note(`The stream was cut, and is opened again: ${message}`),
  });
  if (options.json !== true) live.end(end);
  return codeOf(end);
}

function cursorOf(given: string | undefined): number | null {
  if (given === undefined) return null;
  const from = /^\d{1,15}$/.test(given) ? Number(given) : undefined;
  if (from === undefined)
    throw new UsageError(`--from needs the number of an event, from 0, not "${given}".`);
  return from;
}

function codeOf(view: TaskView | undefined): number {
  if (view === undefined) return 0;
  if (!hasEnded(view)) return EXIT_TASK_WAITS;
  return view.state === 'completed' ? 0 : EXIT_TASK_FAILED;
}
