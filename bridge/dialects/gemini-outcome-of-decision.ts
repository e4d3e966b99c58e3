/**
 * Translates a decision into an outcome of gemini-cli (`ToolConfirmationOutcome` of its core). An outcome never grants
 * more than the person decided. If no outcome fits the decision, the decision is refused. The error lists the
 * alternatives. Pure.
 *
 * For a command, gemini-cli's "always" covers all commands of the same program. For an edit, it covers all file edits.
 * For a fetch, it covers all fetches and edits. For an MCP tool, it covers that tool or its server. No outcome covers
 * more calls. So `trust_always` covers the same calls.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Decision, PendingAction } from '../../shared/protocol/tool-approval.ts';

interface ConfirmationPart {
  callId: string;
  outcome: 'proceed_once' | 'cancel' | 'proceed_always' | 'proceed_always_server' | 'proceed_always_tool';
}

/**
 * Converts a decision to a confirmation of gemini-cli.
 * @throws ProductError INVALID_DECISION, UNKNOWN_CALL, INPUT_CHANGED; nothing is sent
 */
export function confirmationOf(decision: Decision, pending: readonly PendingAction[]): ConfirmationPart {
  const { callId } = decision;
  const action = pending.find((each) => each.callId === callId);
  if (action === undefined) throw unknownCall(callId, pending);
  // D2: the agent would apply the decision to its current call, which may differ from what the person saw.
  if (decision.shown !== action.shown)
    throw new ProductError(
      'INPUT_CHANGED',
      `Call ${callId} has changed since it was shown. Nothing was sent. Show the person the current call (wait_for_task), and decide again.`,
      { facts: { callId } },
    );
  switch (decision.decision) {
    case 'deny':
    // After an inline edit, the agent drops its record of the call. A client can then only cancel the call. So an edit
    // is sent as a cancel.
    case 'edit':
      return { callId, outcome: 'cancel' };
    case 'answer':
      throw invalid(callId, `This agent asks no questions of this kind; ${callId} takes no answer.`);
    case 'approve':
      return { callId, outcome: approvalOf(decision, action) };
  }
}

/** Converts an edit to a message that is sent after the denial. @returns an empty list for other decisions */
export function editInWords(
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
    throw invalid(
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

function unknownCall(callId: string, pending: readonly PendingAction[]): ProductError {
  const waiting = pending.map((each) => `"${each.callId}"`).join(', ');
  return new ProductError(
    'UNKNOWN_CALL',
    pending.length === 0
      ? `No action waits for a decision. "${callId}" was decided before, or does not exist. Look with wait_for_task.`
      : `"${callId}" does not wait for a decision. Waiting: ${waiting}.`,
    { facts: { callId } },
  );
}

function invalid(callId: string, message: string): ProductError {
  return new ProductError('INVALID_DECISION', message, { facts: { callId } });
}
