/** What comes next where tool calls decide nothing: the person is to be reached in a form. Pure. */
import type { Session } from '../sessions/session.ts';
import type { ToolName } from '../tools/tool-name.ts';
import type { ApprovalRules } from './ladder.ts';

export interface Speaker {
  bridge: { rules: ApprovalRules };
  /** A tool's name as this client sees it. */
  name: (tool: ToolName) => string;
}

/** @returns undefined where the usual words hold */
export function personStep(
  { id, view }: Pick<Session, 'id' | 'view'>,
  { bridge, name }: Speaker,
): string | undefined {
  if (bridge.rules.approvals !== 'human-only' || view === undefined) return undefined;
  if (view.pending.length === 0 && view.question === null) return undefined;
  return `Only the person can decide this, and not over a tool: ${name('wait_for_task')} with sessionId "${id}" asks them in a form, in a client that shows forms (MCP elicitation or MCP tasks). Nothing runs until every pending action is decided.`;
}

/** Why a decision that came in a tool call is refused. */
export function refusalOf(sessionId: string, name: (tool: ToolName) => string): string {
  return `This bridge takes decisions from the person alone (--approvals human-only); a tool call decides nothing, and nothing was sent. Call ${name('wait_for_task')} with sessionId "${sessionId}": a client that shows forms (MCP elicitation or MCP tasks) asks the person there.`;
}
