/**
 * The command `watch`: prints the events of a session's task until the task has ended. After an interruption, it
 * reconnects.
 */
import { THINKING_EXTENSION } from '../../../shared/protocol/extensions.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { declaresExtension } from '../../agents/card.ts';
import { sessionProblem } from '../../sessions/session/session-state.ts';
import { hasEnded, hasSettled } from '../../sessions/session/observed-task.ts';
import { taskExitCode, UsageError } from '../terminal/exit-codes.ts';
import { resolveSession } from '../decisions/resolve-id.ts';
import type { CommandRun } from '../context/run-command.ts';
import { TaskWatch } from '../watch/task-watch.ts';

interface WatchOptions {
  from?: string;
  untilSettled?: boolean;
  times?: boolean;
  thinking?: boolean;
}

/**
 * Prints the events of the session's newest task, and returns the exit code.
 * @throws ProductError; UsageError if --from is not a number, or if the agent does not support --from or --thinking
 */
export async function watchCommand(run: CommandRun<WatchOptions>, given: string): Promise<number> {
  const { options, terminal } = run;
  const from = cursorOf(options.from);
  const context = await run.openSessions();
  const session = await resolveSession(context.sessions, given);
  const { agent, view, id } = session;
  if (view === undefined || view.taskId === '')
    throw new ProductError(
      session.state.type === 'not-delivered' ? 'AGENT_UNREACHABLE' : 'UNKNOWN_TASK',
      `Session ${id} has no task yet. ${sessionProblem(session.state) ?? 'Look again in a moment.'}`,
    );
  // `watch` opens a stream of its own, so the session's stream is closed.
  await context.close();
  const { deduplicates: resumes, facts } = await agent.connect();
  const thinking = options.thinking === true;
  if (thinking && !declaresExtension(facts, THINKING_EXTENSION))
    throw new UsageError(
      `Agent "${agent.name}" does not report the reasoning of its model. Omit --thinking.`,
    );
  if (from !== null && !resumes)
    throw new UsageError(`Agent "${agent.name}" does not number its events. Omit --from.`);
  terminal.explain(
    terminal.paint('bold', `Session ${visibleLine(id)} with ${agent.name}, task ${visibleLine(view.taskId)}`),
  );
  const ended = hasEnded(view);
  // Without a cursor, the stream of an ended task is empty. So the command then reads from the first event.
  const after = from ?? (ended && resumes ? 0 : null);
  const task = new TaskWatch({
    agent,
    taskId: view.taskId,
    terminal,
    after,
    pending: ended ? 'without commands' : 'with commands',
    times: options.times === true,
    thinking,
  });
  // An agent without cursors may send no more events while its task waits. So for such an agent, `watch` ends as soon
  // as the task waits or has ended.
  const untilSettled = options.untilSettled === true || !resumes;
  const end = await task
    .until((now) => hasEnded(now) || (untilSettled && hasSettled(now)))
    .catch((error: unknown) => {
      throw cursorBeyondEndError(error, from) ?? error;
    });
  task.end();
  return end === undefined ? 0 : taskExitCode(end);
}

/** Returns an error in the words of the command, because the agent's error names a header of HTTP. */
function cursorBeyondEndError(error: unknown, from: number | null): ProductError | undefined {
  if (!(error instanceof ProductError) || error.reason !== 'INVALID_CURSOR' || from === null)
    return undefined;
  const { last } = error.facts;
  const end = last === undefined ? 'has no event with this number' : `has the events 1 to ${last}`;
  return new ProductError('INVALID_CURSOR', `--from ${from}: the task ${end}. --from 0 shows all events.`, {
    facts: error.facts,
  });
}

function cursorOf(given: string | undefined): number | null {
  if (given === undefined) return null;
  const from = /^\d{1,15}$/.test(given) ? Number(given) : undefined;
  if (from === undefined)
    throw new UsageError(`--from needs the number of an event, from 0, not "${given}".`);
  return from;
}
