import type { ToolCallUpdate } from '@agentclientprotocol/sdk';
import { onAbort } from '../../../shared/runtime/abort.ts';
import { callsOfTurn, type Call, type Snapshot } from '../../task/snapshot.ts';
import { cutMiddle } from '../../../shared/text/shortened-text.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { ToolStoppedError, type ToolResult, type ToolRun } from '../../tools/tool.ts';
import { contentPartsOfToolCall } from './session-updates.ts';
import type { LiveAcpAgent } from './live-agent.ts';
import type { LiveAcpAgents } from './live-agents.ts';
import { acpAllowOutcome, acpRejectOutcome, type PendingAcpPermission } from './permission.ts';
import { hasToolCallEnded, toolCallText } from './read-tool-call.ts';

const MAX_RESULT_CHARS = 30_000;

type PermittedCallEnd =
  | { type: 'done'; toolCall: ToolCallUpdate }
  | { type: 'turn-over' | 'asks-more' }
  | { type: 'lost'; message: string };

/**
 * Sends the approval and waits for the result.
 * @param check throws if the approval is no longer valid. Called directly before the approval.
 * @throws Error with the agent's message after a failure; ToolStoppedError
 */
export async function runPermittedAcpCall(
  run: ToolRun,
  agents: LiveAcpAgents,
  check: () => Promise<void>,
): Promise<ToolResult> {
  const { signal } = run;
  const { call, place } = run.asked;
  const { agent, fresh, release } = await agents.use(place, 'call');
  try {
    rejectSettledRequests(agent, place.task);
    const permission = await waitForRequestOfCall(agent, call, { task: place.task, fresh, signal });
    agent.permitted.add(call.callId);
    await check().catch((error: unknown) => {
      permission.answer(acpRejectOutcome(permission.options));
      throw error;
    });
    const outcome = acpAllowOutcome(permission.options, { onlyOnce: isForOneCall(call) });
    if (outcome === undefined) {
      permission.answer(acpRejectOutcome(permission.options));
      if (acpAllowOutcome(permission.options) !== undefined)
        throw new Error(
          'The agent offers only a permanent permission, and a rule demands a decision on each call. The request was refused. Nothing was done.',
        );
      throw new Error(
        "The agent's request offered no option to allow it, so it was refused. Nothing was done.",
      );
    }
    const output = liveOutput(run);
    const unwatch = agent.watch(permission.toolCallId, output.told);
    const stopListening = onAbort(signal, () => void agent.stop());
    try {
      permission.answer(outcome);
      return resultOf(
        await endOf(agent, permission, { call, task: place.task, signal }),
        place.workspace,
        call,
      );
    } catch (error) {
      if (!signal.aborted) throw error;
      await agent.stop();
      throw new ToolStoppedError('The server told the agent to stop.', {
        text: output.soFar(),
        confirmed: true,
      });
    } finally {
      stopListening();
      unwatch();
    }
  } finally {
    release();
  }
}

/**
 * Rejects the permission requests of denied tool calls and of calls that never started, because the agent may wait
 * for all answers.
 */
export function rejectSettledRequests(agent: LiveAcpAgent, task: Snapshot): void {
  for (const call of callsOfLastTurn(task)) {
    if (call.state.type !== 'settled' || agent.permitted.has(call.callId)) continue;
    const permission = agent.waiting.find((open) => isOf(call, open) && open.toolCallId === call.modelCallId);
    permission?.answer(acpRejectOutcome(permission.options));
  }
}

/** Returns the tool calls of the last finished turn. Newer messages may follow this turn. */
function callsOfLastTurn(task: Snapshot): Call[] {
  const last = task.exchanges.findLast((exchange) => exchange.type === 'turn');
  return callsOfTurn(task, last?.turn);
}

/** True if the approval must not cover later tool calls, because each of them needs a passkey or a special approver. */
function isForOneCall({ presence, approver }: Call): boolean {
  return presence === true || approver !== undefined;
}

/** D2: true if the permission request has exactly the input of the tool call. */
function isOf(call: Call, { tool, hash }: PendingAcpPermission): boolean {
  return call.tool === tool && call.inputHash === hash;
}

async function waitForRequestOfCall(
  agent: LiveAcpAgent,
  call: Call,
  { task, fresh, signal }: { task: Snapshot; fresh: boolean; signal: AbortSignal },
): Promise<PendingAcpPermission> {
  const found = await agent.until(() => {
    const alike = agent.waiting.filter((open) => isOf(call, open));
    const own = alike.find(({ toolCallId }) => toolCallId === call.modelCallId) ?? alike[0];
    if (own) return own;
    // No open request matches the call. A restarted agent may still repeat its request. An agent that was not restarted
    // has withdrawn its request.
    return !fresh || !agent.prompted || agent.failure !== undefined || asksMore(agent, task, call)
      ? 'gone'
      : undefined;
  }, signal);
  if (found !== 'gone') return found;
  throw new Error(
    agent.failure ??
      (fresh
        ? "The agent's process ended before the decision. The new process did not repeat the request. Nothing was done."
        : 'The agent withdrew its request. Nothing was done.'),
  );
}

function endOf(
  agent: LiveAcpAgent,
  { toolCallId }: PendingAcpPermission,
  { call, task, signal }: { call: Call; task: Snapshot; signal: AbortSignal },
): Promise<PermittedCallEnd> {
  return agent.until((): PermittedCallEnd | undefined => {
    const toolCall = agent.toolCall(toolCallId);
    if (toolCall && hasToolCallEnded(toolCall)) return { type: 'done', toolCall };
    if (agent.failure !== undefined) return { type: 'lost', message: agent.failure };
    if (!agent.prompted) return { type: 'turn-over' };
    return asksMore(agent, task, call) ? { type: 'asks-more' } : undefined;
  }, signal);
}

/** True if the agent waits for a permission that matches no other approved tool call of the turn. */
function asksMore(agent: LiveAcpAgent, task: Snapshot, call: Call): boolean {
  const open = callsOfLastTurn(task).filter(
    (other) =>
      other.callId !== call.callId && other.state.type === 'ready' && !agent.permitted.has(other.callId),
  );
  return agent.waiting.some((permission) => !open.some((other) => isOf(other, permission)));
}

function resultOf(end: PermittedCallEnd, workspace: string, call: Call): ToolResult {
  const title = oneLineExcerpt(call.title, 80);
  switch (end.type) {
    case 'done': {
      const { toolCall } = end;
      const parts = contentPartsOfToolCall(toolCall, workspace).flatMap((part) =>
        part.type === 'text' ? [part.text] : [],
      );
      const text = cutMiddle(parts.join('\n\n') || rawText(toolCall), MAX_RESULT_CHARS);
      if (toolCall.status === 'failed')
        throw new Error(text || 'The agent reports a failure, without details.');
      return { text: text || 'The agent reports success, without details.', summary: `${title}: done` };
    }
    case 'asks-more':
      return {
        text: 'The agent got permission. It requested more before it reported a result.',
        summary: `${title}: allowed; no result yet`,
      };
    case 'turn-over':
      return {
        text: 'The agent got permission, and stopped before it reported a result.',
        summary: `${title}: allowed; outcome unknown`,
      };
    case 'lost':
      throw new Error(`${end.message} The call was approved; whether it ran is unknown.`);
  }
}

function rawText({ rawOutput }: ToolCallUpdate): string {
  if (rawOutput === undefined || rawOutput === null) return '';
  return typeof rawOutput === 'string' ? rawOutput : JSON.stringify(rawOutput, null, 2);
}

/** Writes only the new part of the output. Each update repeats the whole output of the tool call. */
function liveOutput({ output }: ToolRun): { told: (toolCall: ToolCallUpdate) => void; soFar: () => string } {
  let shown = '';
  return {
    told: (toolCall) => {
      const text = toolCallText(toolCall);
      if (text === shown) return;
      output(text.startsWith(shown) ? text.slice(shown.length) : `\n${text}`);
      shown = text;
    },
    soFar: () => cutMiddle(shown, MAX_RESULT_CHARS),
  };
}
