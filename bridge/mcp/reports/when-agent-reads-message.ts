/** Explains when an agent reads a message that was sent to its running task. Pure. */
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { DialectName } from '../../dialects/dialect.ts';
import type { TaskView } from '../../sessions/session/observed-task.ts';

const MAX_CALL_TITLE_CHARACTERS = 100;

/**
 * Returns the explanation. Returns undefined if the task was not running.
 * @param view the task before the message was sent
 */
export function whenAgentReadsMessage(
  { state, calls }: Pick<TaskView, 'state' | 'calls'>,
  dialect: DialectName,
): string | undefined {
  if (state !== 'working' && state !== 'submitted') return undefined;
  // R04: only the tool-approval extension defines when an agent reads a message.
  if (dialect !== 'tool-approval') return 'The agent has accepted the message for its running task.';
  const running = calls
    .filter((call) => call.state === 'running')
    .map(({ title }) => visibleLine(title, MAX_CALL_TITLE_CHARACTERS));
  return running.length === 0
    ? 'The message is queued: the agent reads it after the turn that runs.'
    : `The message is queued: the agent reads it after ${running.join(', ')}.`;
}
