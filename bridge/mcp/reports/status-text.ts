/** Formats the short status of a session as text. The text contains all facts of the structured result. Pure. */
import type { ToolServerView } from '../../../shared/protocol/tool-approval.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { costLine } from './cost-text.ts';
import type { StatusReport } from './status-report.ts';
import { joinTexts } from '../../../shared/text/join-texts.ts';

export function statusText(status: StatusReport): string {
  const { sessionId, agent, taskId, state, phase, message, tools, pending, question, cost, changes } = status;
  return joinTexts('\n', [
    `Session ${visibleLine(sessionId)} with ${agent}${taskId === null ? '' : `, task ${visibleLine(taskId)}`}: ${state}${phase === state ? '' : `, ${phase}`}.`,
    message,
    ...pending.map(
      (each) =>
        `Waits for a decision: ${each.title} (${each.tool}, ${each.source}, callId ${visibleLine(each.callId)})`,
    ),
    question === null ? '' : `Asks: ${question}`,
    ...tools.map(
      (each) =>
        `Tool ${each.tool}: ${each.title} — ${each.state}${each.startedAt === null ? '' : `, started ${visibleLine(each.startedAt)}`}${each.toolId === null ? '' : ` (toolId ${visibleLine(each.toolId)})`}${each.tail === undefined ? '' : `; output so far: ${each.tail}`}`,
    ),
    status.todos === undefined ? '' : `Progress: ${status.todos}.`,
    ...(status.grants ?? []).map((grant) => `Trusted ${grant}`),
    ...(status.servers ?? []).map(serverLine),
    status.left === 0
      ? ''
      : `${String(status.left)} more pending actions, running tools or grants of trust are not listed here.`,
    cost === null ? '' : costLine(cost),
    changes.length === 0 ? '' : `Changes: ${changes.join('; ')}.`,
    `Cursor ${String(status.cursor)}${status.changesComplete ? '' : ' (there may be more changes than these)'}.`,
    ...status.notes.map((note) => `Note: ${note}`),
    status.next,
  ]);
}

function serverLine({ name, state, tools, error }: ToolServerView): string {
  const why = error === undefined ? '' : ` (${error})`;
  return `MCP server ${name}: ${state}, ${String(tools)} tools${why}`;
}
