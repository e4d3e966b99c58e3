/** Prepares a model's tool call. Validates its input, creates its preview, and computes the policy's verdict. */
import type { Preview } from '../../../shared/protocol/tool-approval.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import { isRecord } from '../../../shared/runtime/record.ts';
import type { ResolvedTargets } from '../../policy/call-facts.ts';
import { resolveTargets } from '../../policy/resolve-targets.ts';
import type { Policy } from '../../policy/create-policy.ts';
import { decideVerdict } from '../../policy/verdict.ts';
import { usableGrants } from '../../task/grants.ts';
import { questionOfCall } from '../../task/snapshot.ts';
import type { Tool, ToolContext } from '../../tools/tool.ts';
import { parseInput, type Toolbox } from '../../tools/toolbox.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';
import type { IdGenerator } from '../task-journal/id-generator.ts';
import { inputHash } from '../../../shared/protocol/shown-code.ts';
import type { ModelCallRequest } from './model-answer.ts';
import type { PreparedCall } from './model-turn.ts';

interface PreparationContext {
  principal: string;
  toolbox: Toolbox;
  workspace: Workspace;
  ids: IdGenerator;
  policy: Policy;
  clock: Clock;
  signal: AbortSignal;
  /** True if the task has the mode `accept-edits`. */
  acceptsEdits: boolean;
}

/**
 * Prepares a tool call. Never throws. If the call cannot run, the verdict is `refuse`, and the model gets the reason.
 */
export async function prepareCall(
  request: ModelCallRequest,
  { principal, toolbox, workspace, ids, policy, clock, signal, acceptsEdits }: PreparationContext,
): Promise<PreparedCall> {
  const { modelCallId } = request;
  const base = { callId: ids.call(), modelCallId, tool: request.tool };
  const tool = toolbox.get(request.tool);
  if (tool === undefined) return toRefusedCall(base, request.input, toolbox.absence(request.tool));
  const parsed = parseInput(tool, request.input);
  if (!parsed.ok) return toRefusedCall(base, request.input, parsed.message);
  const shown = await buildShownCall(tool, parsed.input, { principal, workspace, signal, acceptsEdits });
  if (!shown.ok) return toRefusedCall(base, request.input, shown.message);
  const { sideEffect, repeatable, source } = tool;
  const call = { ...base, sideEffect, ...(repeatable && { repeatable }), source, ...shown.call };
  const judged = { ...call, reach: shown.reach };
  return {
    call,
    judge(snapshot) {
      const grants = usableGrants(snapshot, { now: clock.now(), approver: policy.approver });
      const policyVerdict = decideVerdict(judged, { policy, settings: snapshot.settings, grants });
      // Only a person can answer a question. Modes and grants cannot. A rule can only refuse the question.
      return questionOfCall(call) === undefined || policyVerdict.type === 'refuse'
        ? policyVerdict
        : { type: 'question' };
    },
  };
}

export interface ShownCall {
  title: string;
  input: Record<string, unknown>;
  inputHash: string;
  preview: Preview;
  basis: string | null;
}

export async function buildShownCall(
  tool: Tool,
  input: Record<string, unknown>,
  context: ToolContext & { acceptsEdits: boolean },
): Promise<{ ok: true; call: ShownCall; reach: ResolvedTargets } | { ok: false; message: string }> {
  try {
    const shown = await tool.show(input, context);
    const reach = await resolveTargets(tool, input, context);
    return {
      ok: true,
      reach,
      call: { title: tool.title(input), input, inputHash: inputHash(input), ...shown },
    };
  } catch (error) {
    return { ok: false, message: errorMessageOf(error) };
  }
}

function toRefusedCall(
  base: { callId: string; modelCallId: string; tool: string },
  written: unknown,
  message: string,
): PreparedCall {
  const input: Record<string, unknown> = isRecord(written) ? written : { input: written };
  return {
    call: {
      ...base,
      title: `Call ${base.tool}`,
      input,
      inputHash: inputHash(input),
      sideEffect: 'none',
      source: { type: 'built-in' },
      preview: { type: 'json', value: input },
      basis: null,
    },
    judge: () => ({ type: 'refuse', message }),
  };
}
