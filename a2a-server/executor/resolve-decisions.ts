/** Decisions as they came, made ready for the pure core: an edit is checked like the model's own input and shown anew (D4). */
import { ProductError } from '../../shared/errors.ts';
import type { Decision, DecisionsPart } from '../../shared/protocol/tool-approval.ts';
import type { ResolvedDecision } from '../task/commands.ts';
import type { Policy } from '../policy/policy.ts';
import { denial } from '../policy/verdict.ts';
import { callOf, type Call, type Snapshot } from '../task/snapshot.ts';
import type { Tool } from '../tools/tool.ts';
import { parseInput, type Toolbox } from '../tools/toolbox.ts';
import type { Workspace } from '../tools/workspace.ts';
import { showCall, type ShownCall } from './prepare-call.ts';

export interface EditContext {
  toolbox: Toolbox;
  policy: Policy;
  openWorkspace: (path: string | undefined) => Promise<Workspace>;
}

/** @throws ProductError INVALID_DECISION for an edit that the tool would not accept; nothing is changed then (E3). */
export async function resolveDecisions(
  { decisions }: DecisionsPart,
  snapshot: Snapshot,
  context: EditContext,
): Promise<ResolvedDecision[]> {
  const resolved: ResolvedDecision[] = [];
  for (const decision of decisions) {
    const call = callOf(snapshot, decision.callId);
    resolved.push({
      callId: decision.callId,
      decision: decision.decision,
      scope: decision.scope,
      grant: decision.grant,
      reason: decision.reason ?? null,
      shown: decision.shown,
      ...(decision.answer !== undefined && { answer: decision.answer }),
      // A call that does not wait is refused by the core, whatever the edit.
      edited:
        decision.decision === 'edit' && call?.state.type === 'waiting'
          ? await edited(decision, call, snapshot, context)
          : null,
    });
  }
  return resolved;
}

async function edited(
  decision: Decision,
  call: Call,
  snapshot: Snapshot,
  { toolbox, policy, openWorkspace }: EditContext,
): Promise<ShownCall> {
  const { signal } = new AbortController();
  await toolbox.settled(signal);
  const tool = toolbox.get(call.tool);
  if (tool === undefined) throw invalid(call, toolbox.absence(call.tool));
  const parsed = parseInput(tool, newInput(decision, call, tool));
  if (!parsed.ok) throw invalid(call, parsed.message);
  const workspace = await openWorkspace(snapshot.settings.workspace);
  const { principal } = snapshot;
  const shown = await showCall(tool, parsed.input, { principal, workspace, signal });
  if (!shown.ok) throw invalid(call, shown.message);
  const denied = denial({ ...call, reach: shown.reach }, policy);
  if (denied !== undefined) throw invalid(call, denied);
  return shown.call;
}

function newInput(decision: Decision, call: Call, tool: Tool): unknown {
  if (decision.content === undefined) return decision.input;
  if (tool.withContent === undefined)
    throw invalid(call, `${call.tool} does not write one text; edit its input instead`);
  return tool.withContent(decision.input ?? call.input, decision.content);
}

function invalid(call: Call, why: string): ProductError {
  return new ProductError(
    'INVALID_DECISION',
    `The edit of call ${call.callId} was not accepted: ${why}. The call still waits.`,
    { facts: { callId: call.callId } },
  );
}
