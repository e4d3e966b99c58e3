/**
 * Formats the result about a session as text for a person. The most important parts come first. The text contains all
 * facts of the structured result. Pure.
 */
import { withLinePrefixes, visibleLine } from '../../../shared/text/visible-text.ts';
import { costLine } from './cost-text.ts';
import type { PendingResult, SessionResult } from './session-result.ts';
import { joinTexts } from '../../../shared/text/join-texts.ts';

const HEADLINES: Readonly<Record<SessionResult['state'], string>> = {
  not_delivered: 'does not have the task',
  working: 'is working on it',
  input_required: 'waits for you',
  completed: 'has finished',
  cancelled: 'was cancelled',
  failed: 'failed',
  rejected: 'rejected the task',
  unknown_to_agent: 'does not know this task any more',
  unknown: 'is in a state this bridge does not know',
};

export function sessionText(result: SessionResult): string {
  const { sessionId, agent, taskId = null, state, message, output, notDone, delta = '' } = result;
  const { pending, question, calls = [], cost, notes = [], next } = result;
  // The ids are escaped, because the agent chooses them. An id with a line break could look like a text of the
  // bridge.
  const task = taskId === null ? '' : `, task ${visibleLine(taskId)}`;
  const { reason, rest } = state === 'rejected' ? reasonOf(message) : { reason: '', rest: message };
  return joinTexts('\n\n', [
    `${agent} ${headlineOf(result)}${reason === '' ? '' : `: ${reason}`}${notDone === undefined ? '' : `; ${notDone}`} (state ${state}, session ${visibleLine(sessionId)}${task}).${delta === '' ? '' : ` ${delta}`}`,
    rest === '' || message === output ? '' : prefixedAgentText(rest, result),
    output === '' ? '' : prefixedAgentText(message === output ? rest : output, result),
    ...pending.map((action, index) => pendingActionText(action, index + 1, pending.length)),
    question === null
      ? ''
      : `${agent} asks (callId ${visibleLine(question.callId)}, shown ${visibleLine(question.shown)}):\n${withLinePrefixes(question.text)}`,
    calls.length === 0 ? '' : `Tool calls:\n${calls.map(callLine).join('\n')}`,
    cost === null ? '' : costLine(cost),
    ...notes.map((note) => `Note: ${note}`),
    next,
  ]);
}

/** Returns the headline. If an action has no decisions, only another person may decide it. */
function headlineOf({ state, pending }: SessionResult): string {
  const others = pending.length > 0 && pending.every(({ decisions }) => decisions?.length === 0);
  return others ? 'waits for somebody else' : HEADLINES[state];
}

const MAX_REASON_CHARACTERS = 300;

/** Splits the agent's message about a rejection. The first line is the reason, unless it is too long. */
function reasonOf(message: string): { reason: string; rest: string } {
  const [first = '', ...rest] = message.trim().split('\n');
  const reason = visibleLine(first.replace(/\.$/, ''));
  return reason.length > MAX_REASON_CHARACTERS
    ? { reason: '', rest: message }
    : { reason, rest: rest.join('\n').trim() };
}

/**
 * Adds a prefix to the agent's text while a decision waits, so that the text cannot look like the bridge's own
 * questions.
 */
function prefixedAgentText(text: string, { pending, question }: SessionResult): string {
  return pending.length === 0 && question === null ? text : withLinePrefixes(text);
}

/** Formats a pending action with everything that a person must see before deciding. */
export function pendingActionText(action: PendingResult, number: number, count: number): string {
  const {
    callId,
    shown = '',
    title,
    shownBefore,
    tool = '',
    source = '',
    sideEffect = '',
    why = '',
  } = action;
  const { rule, preview = '', input, expiresAt, decisions = [] } = action;
  const place = count === 1 ? '' : `${String(number)} of ${String(count)} `;
  if (shownBefore === true)
    return `Still pending ${place}— ${title}\ncallId ${visibleLine(callId)}. An earlier result has its preview and its code. Neither has changed.`;
  const ids = `callId ${visibleLine(callId)}, shown ${visibleLine(shown)}`;
  const expires = typeof expiresAt === 'string' ? `, expires ${visibleLine(expiresAt)}` : '';
  return joinTexts('\n', [
    `Pending action ${place}— ${title}`,
    `${ids}, tool ${tool} (${source}), side effect: ${sideEffect}${expires}`,
    why,
    rule === undefined ? '' : `A decision is required by ${rule}, even with trust.`,
    preview,
    input === undefined ? '' : `Input: ${inputText(input)}`,
    `Decisions: ${decisions.length === 0 ? 'none here' : decisions.join(', ')}`,
  ]);
}

function callLine({
  callId,
  tool,
  title,
  state,
  toolId = null,
  summary,
}: NonNullable<SessionResult['calls']>[number]): string {
  const ids =
    toolId === null
      ? `callId ${visibleLine(callId)}`
      : `callId ${visibleLine(callId)}, toolId ${visibleLine(toolId)}`;
  return `- ${tool}: ${title} — ${state}${summary === null || summary === '' ? '' : `: ${summary}`} (${ids})`;
}

function inputText(input: Record<string, unknown>): string {
  try {
    return visibleLine(JSON.stringify(input));
  } catch {
    return '[nested too deep to show]';
  }
}
