/**
 * Writes a session's report as text for a person, with the structured result's content in order of importance.
 * Pure.
 */
import { withLineMarks, visibleLine } from '../../../shared/text/visible-text.ts';
import type { Cost } from '../../sessions/task-view.ts';
import type { SessionReport } from './session-report.ts';

const HEADLINES: Readonly<Record<SessionReport['state'], string>> = {
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

export function sessionText(report: SessionReport): string {
  const { sessionId, agent, taskId, state, message, output, notDone } = report;
  const { pending, question, calls, cost, notes, next } = report;
  const task = taskId === null ? '' : `, task ${taskId}`;
  return [
    `${agent} ${HEADLINES[state]}${notDone === undefined ? '' : `; ${notDone}`} (state ${state}, session ${sessionId}${task}).`,
    message === '' || message === output ? '' : said(message, report),
    output === '' ? '' : said(output, report),
    ...pending.map((action, index) => pendingBlock(action, index + 1, pending.length)),
    question === null
      ? ''
      : `${agent} asks (callId ${visibleLine(question.callId)}, shown ${visibleLine(question.shown)}):\n${withLineMarks(question.text)}`,
    calls.length === 0 ? '' : `Tool calls:\n${calls.map(callLine).join('\n')}`,
    cost === null ? '' : costLine(cost),
    ...notes.map((note) => `Note: ${note}`),
    next,
  ]
    .filter((block) => block !== '')
    .join('\n\n');
}

/** While a decision waits, the agent's text must not look like the bridge's own questions or answers. */
function said(text: string, { pending, question }: SessionReport): string {
  return pending.length === 0 && question === null ? text : withLineMarks(text);
}

/** A pending action as a person must see it before they decide. */
export function pendingBlock(
  action: SessionReport['pending'][number],
  number: number,
  count: number,
): string {
  const {
    callId,
    shown,
    tool,
    title,
    source,
    sideEffect,
    why,
    rule,
    preview,
    cut,
    input,
    expiresAt,
    decisions,
  } = action;
  return [
    `Pending action ${count === 1 ? '' : `${String(number)} of ${String(count)} `}— ${title}`,
    `callId ${visibleLine(callId)}, shown ${visibleLine(shown)}, tool ${tool} (${source}), side effect: ${sideEffect}${expiresAt === null ? '' : `, expires ${expiresAt}`}`,
    why,
    rule === undefined ? '' : `It is asked for by ${rule}: no trust changes that.`,
    preview,
    cut === 0 ? `Input: ${inputText(input)}` : '',
    `Decisions: ${decisions.join(', ')}`,
  ]
    .filter((line) => line !== '')
    .join('\n');
}

/** '' for an agent that counts no tokens. */
export function costLine({
  turns,
  inputTokens,
  outputTokens,
  usd,
}: Omit<Cost, 'usd'> & { usd?: number | null | undefined }): string {
  if (inputTokens === 0 && outputTokens === 0) return '';
  return `Cost: ${String(turns)} turns, ${String(inputTokens)} tokens in, ${String(outputTokens)} out${price(usd)}.`;
}

/** '' when the report leaves out the price. */
function price(usd: number | null | undefined): string {
  if (usd === undefined) return '';
  return usd === null ? ', price unknown' : `, ${dollars(usd)}`;
}

function callLine({ callId, tool, title, state, toolId, summary }: SessionReport['calls'][number]): string {
  const ids =
    toolId === null ? `callId ${visibleLine(callId)}` : `callId ${visibleLine(callId)}, toolId ${toolId}`;
  return `- ${tool}: ${title} — ${state}${summary === null || summary === '' ? '' : `: ${summary}`} (${ids})`;
}

function inputText(input: Record<string, unknown>): string {
  try {
    return visibleLine(JSON.stringify(input));
  } catch {
    return '[nested too deep to show]';
  }
}

/** An amount in US dollars: two decimals, or four below one dollar. Pure. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}
