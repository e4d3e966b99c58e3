/** Explains how to reach the person if tool calls cannot decide (setting `approvals: human-only`). Pure. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { waitsForOtherPeople, whenApprovedCallRuns } from './next-step.ts';
import { asksPerson } from '../../sessions/session/observed-task.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { NameOfTool } from '../../tool-names/tool-names.ts';
import type { ApprovalSettings, ApprovalMode } from '../../settings/approval-mode.ts';

export interface GuidanceContext {
  bridge: { rules: ApprovalSettings; program: string };
  name: NameOfTool;
}

/**
 * Explains how a person's decision reaches the agent. With `human-only`, `tools/list` does not contain the tool that
 * decides.
 */
export function decideHintForModel(approvals: ApprovalMode): string {
  return approvals === 'human-only'
    ? 'Show them the preview. They decide it themselves: in a form, on the page or at a terminal. No tool decides.'
    : 'Show them the preview, then send their decision with approve_or_deny_pending_action.';
}

/** Returns the next step if only a person may decide. Returns undefined if the usual next step applies. */
export function humanOnlyGuidance(
  { id, view, asksOneByOne }: Pick<Session, 'id' | 'view' | 'asksOneByOne'>,
  { bridge, name }: GuidanceContext,
): string | undefined {
  if (bridge.rules.approvals !== 'human-only' || view === undefined) return undefined;
  if (!asksPerson(view) || waitsForOtherPeople(view)) return undefined;
  return `Only the person can decide this, and not over a tool: ${name('wait_for_task')} with sessionId "${visibleLine(id)}" asks them in a form, in a client that shows forms (MCP elicitation or MCP tasks). ${whenApprovedCallRuns({ asksOneByOne })}`;
}

/**
 * Throws with the setting `human-only`. A tool calls this function before it sends a decision, answers a question, or
 * turns off approvals. With this setting, only the person may do these things.
 * @throws ProductError FORBIDDEN
 */
export function refuseIfHumanOnly({ bridge, name }: GuidanceContext, sessionId?: string): void {
  if (bridge.rules.approvals !== 'human-only') return;
  const how =
    sessionId === undefined
      ? 'Leave out autoExecute, and the modes that run things unasked: the person is asked for each action.'
      : `Call ${name('wait_for_task')} with sessionId "${sessionId}": a client that shows forms (MCP elicitation or MCP tasks) asks the person there. In any client the person can decide at a terminal with \`${bridge.program} approve ${sessionId}\`, or on the page, to which \`${bridge.program} page\` prints a link.`;
  throw new ProductError(
    'FORBIDDEN',
    `This bridge accepts decisions only from the person (--approvals human-only). A tool call decides nothing. Nothing was sent. ${how}`,
    { facts: sessionId === undefined ? {} : { sessionId } },
  );
}
