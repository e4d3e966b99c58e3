/**
 * Converts a decision to an outcome of gemini-cli (`ToolConfirmationOutcome` in its core). An outcome never grants more
 * than the person decided. If no outcome fits the decision, it is refused, and the error lists the alternatives. Pure.
 *
 * gemini-cli's "always" covers different calls for each kind of tool. For a command: all commands of the same program.
 * For an edit: all file edits. For a fetch: all fetches and edits. For an MCP tool: that tool, or all tools of its
 * server. gemini-cli has no outcome that covers all calls, so `trust_always` covers the same calls as its "always".
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Decision, PendingAction } from '../../shared/protocol/tool-approval.ts';

interface ConfirmationPart {
  callId: string;
  outcome: 'proceed_once' | 'cancel' | 'proceed_always' | 'proceed_always_server' | 'proceed_always_tool';
}

/**
 * Converts a decision to a confirmation of gemini-cli.
 * @throws ProductError INVALID_DECISION, UNKNOWN_CALL, INPUT_CHANGED. Nothing is sent then.
 */
export function toConfirmation(decision: Decision, pending: readonly PendingAction[]): ConfirmationPart {
  const { callId } = decision;
  const action = pending.find((each) => each.callId === callId);
  if (action === undefined) throw unknownCallError(callId, pending);
  // D2: a decision is valid only for what the person saw. The agent itself would apply the decision to its current
  // call, even if that call has changed.
  if (decision.shown !== action.shown)
    throw new ProductError(
      'INPUT_CHANGED',
      `Call ${callId} has changed since it was shown. Nothing was sent. Show the person the current call (wait_for_task), and decide again.`,
      { facts: { callId } },
    );
  switch (decision.decision) {
    case 'deny':
    // This agent would forget the call after an edit. A client could then only cancel the call. So an edit is sent as a
    // cancel.
    case 'edit':
      return { callId, outcome: 'cancel' };
    case 'answer':
      throw invalidDecisionError(
        callId,
        `This agent asks no questions of this kind; ${callId} takes no answer.`,
      );
    case 'approve':
      return { callId, outcome: approvalOf(decision, action) };
  }
}

/**
 * Returns the messages that tell the agent what the person changed. This agent cannot run an edited call, so the bridge
 * first denies the call and then sends these messages. Returns an empty list for other decisions.
 */
export function editExplanationMessages(
  { callId, decision, content, input }: Decision,
  pending: readonly PendingAction[],
): string[] {
  const action = pending.find((each) => each.callId === callId);
  if (decision !== 'edit' || action === undefined) return [];
  const { title, tool, preview } = action;
  if (content === undefined)
    return [
      `Instead of "${title}", call ${tool} with exactly this input:\n\n${JSON.stringify(input, null, 2)}`,
    ];
  switch (preview.type) {
    case 'diff':
      return content === ''
        ? [`Instead of "${title}", make ${preview.path} an empty file.`]
        : [`Instead of "${title}", make this the whole content of ${preview.path}:\n\n${content}`];
    case 'command':
      return [`Instead of "${title}", run exactly this command in ${preview.cwd}:\n\n${content}`];
    case 'url':
    case 'json':
    case 'question':
      return [`Instead of "${title}", do this:\n\n${content}`];
  }
}

function approvalOf(
  { callId, scope }: Decision,
  { source, sideEffect, scopes = [] }: PendingAction,
): ConfirmationPart['outcome'] {
  if (!scopes.includes(scope)) {
    const wider =
      sideEffect === 'files'
        ? ' It has only "trust_always", which stops asking for all file edits.'
        : sideEffect === 'network'
          ? ' It has only "trust_always", which stops asking for fetches and for file edits.'
          : '';
    throw invalidDecisionError(
      callId,
      `This agent has no trust of this scope (${scope}) for ${callId}. Nothing was sent.${wider} "approve" lets this one call run.`,
    );
  }
  const onServer = source.type === 'mcp-server';
  switch (scope) {
    case 'once':
      return 'proceed_once';
    case 'tool':
      return onServer ? 'proceed_always_tool' : 'proceed_always';
    case 'server':
      return 'proceed_always_server';
    case 'always':
      return onServer ? 'proceed_always_server' : 'proceed_always';
  }
}

function unknownCallError(callId: string, pending: readonly PendingAction[]): ProductError {
  const waiting = pending.map((each) => `"${each.callId}"`).join(', ');
  return new ProductError(
    'UNKNOWN_CALL',
    pending.length === 0
      ? `No action waits for a decision. "${callId}" was decided before, or does not exist. Look with wait_for_task.`
      : `"${callId}" does not wait for a decision. Waiting: ${waiting}.`,
    { facts: { callId } },
  );
}

function invalidDecisionError(callId: string, message: string): ProductError {
  return new ProductError('INVALID_DECISION', message, { facts: { callId } });
}
