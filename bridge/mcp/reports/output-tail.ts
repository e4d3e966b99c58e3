/** Returns the end of a running tool's output, on one line. Pure. */
import { safeCutBefore, visibleLine } from '../../../shared/text/visible-text.ts';
import type { CallView, TaskView } from '../../sessions/task-view.ts';

/**
 * Some agents report a tool's output as an artifact, others as a summary of the call.
 * @param most the maximum number of characters, before hidden characters are escaped
 * @returns '' for a call that is not running or has no output
 */
export function outputTail({ outputs }: TaskView, call: CallView, most: number): string {
  if (call.state !== 'running') return '';
  const artifact = outputs.findLast(
    ({ aside }) => aside?.role === 'tool-output' && aside.toolId === call.toolId,
  );
  const text = (artifact?.text ?? call.summary ?? '').slice(-2 * most - 1000).trim();
  const line = text.replaceAll(/\s*[\r\n]+\s*/g, ' | ');
  if (line.length <= most) return visibleLine(line);
  return `…${visibleLine(line.slice(safeCutBefore(line, line.length - most)))}`;
}
