/** Returns the end of a running tool's output as one line. Pure. */
import { safeCutBefore } from '../../../shared/text/fit-text.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { CallView, TaskView } from '../../sessions/session/observed-task.ts';

/**
 * Returns the end of the output. Some agents report the output as an artifact, others as the summary of the call.
 * Returns '' if the call does not run or has no output.
 * @param most the maximum number of characters, before hidden characters are escaped
 */
export function runningOutputTail({ outputs }: TaskView, call: CallView, most: number): string {
  if (call.state !== 'running') return '';
  const artifact = outputs.findLast(
    ({ aside }) => aside?.role === 'tool-output' && aside.toolId === call.toolId,
  );
  const text = (artifact?.text ?? call.summary ?? '').slice(-2 * most - 1000).trim();
  const line = text.replaceAll(/\s*[\r\n]+\s*/g, ' | ');
  if (line.length <= most) return visibleLine(line);
  return `…${visibleLine(line.slice(safeCutBefore(line, line.length - most)))}`;
}
