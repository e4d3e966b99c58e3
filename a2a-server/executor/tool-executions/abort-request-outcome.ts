/** Computes the answer to the client from the outcome of an abort request. Pure. */
import type { AbortAnswer } from '../../../shared/protocol/abort-answer.ts';
import { ellipsize } from '../../../shared/text/shortened-text.ts';
import type { ToolOutcome } from '../../task/events.ts';

export type AbortRequestOutcome =
  /** There is no such tool execution, or the principal has no access to it. */
  | { type: 'unknown' }
  | { type: 'already-finished' }
  /** The tool finished during the request. */
  | { type: 'finished-first' }
  /** An earlier abort request stopped the tool. */
  | { type: 'aborted-before'; confirmed: boolean }
  /** Another reason stopped the tool first. */
  | { type: 'stopped-before'; reason: string }
  /** The end of the task stopped the tool first. A3: if an abort and the end of the task race, one of them wins. */
  | { type: 'task-ended' }
  /** The server that ran the tool has died. */
  | { type: 'lost' }
  /** Another server runs the tool, and did not stop it within the time limit. */
  | { type: 'pending' }
  | { type: 'stopped'; confirmed: boolean; remark?: string | undefined };

/** Returns the outcome of an abort request. @param first true if this request was the first reason to stop the tool */
export function abortRequestOutcome(
  outcome: ToolOutcome | null,
  { first, remark }: { first: boolean; remark?: string | undefined },
): AbortRequestOutcome {
  if (outcome === null) return { type: 'task-ended' };
  if (outcome.type !== 'stopped') return { type: 'finished-first' };
  const { reason, confirmed } = outcome;
  if (first) return { type: 'stopped', confirmed, remark };
  return reason === 'abort-request'
    ? { type: 'aborted-before', confirmed }
    : { type: 'stopped-before', reason };
}

/** The maximum length of an unknown id in a message to the client, in characters. */
const MAX_ID_CHARS = 200;

export function abortAnswer(toolId: string, result: AbortRequestOutcome): AbortAnswer {
  const id = ellipsize(toolId, MAX_ID_CHARS);
  switch (result.type) {
    case 'unknown':
      return {
        success: false,
        message: `There is no tool execution ${id}. The status of a task lists its running tools.`,
      };
    case 'already-finished':
      return { success: false, message: `Tool execution ${id} has already finished.` };
    case 'finished-first':
      return { success: false, message: `Tool execution ${id} finished before it could be aborted.` };
    case 'aborted-before':
      return {
        success: false,
        message: `Tool execution ${id} was already aborted${result.confirmed ? '' : ', but it may have had an effect'}. This request changed nothing.`,
      };
    case 'stopped-before':
      return {
        success: false,
        message: `Tool execution ${id} was already being stopped (${result.reason}).`,
      };
    case 'task-ended':
      return { success: false, message: `Tool execution ${id} was already being stopped with its task.` };
    case 'lost':
      return {
        success: false,
        message: `The server that ran tool execution ${id} has died, so its outcome is unknown. The task asks a person what to do next.`,
      };
    case 'pending':
      return {
        success: false,
        message: `The server that runs tool execution ${id} has not stopped it yet. It stops the tool as soon as it reads the request.`,
      };
    case 'stopped':
      return result.confirmed
        ? { success: true, message: `Successfully aborted tool execution: ${id}` }
        : {
            success: true,
            message: `Aborted tool execution ${id}, but it may have had an effect. ${result.remark ?? 'The tool did not confirm that it stopped.'}`,
          };
  }
}
