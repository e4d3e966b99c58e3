/**
 * Adapts an ACP agent to the model interface. A turn sends a prompt, or continues an open prompt after the decisions of
 * a person. The turn ends with the agent's answer or with the next permission request. The prompt stays open while
 * decisions are pending.
 */
import type { StopReason } from '@agentclientprotocol/sdk';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import { delay } from '../../runtime/timeout.ts';
import type { TurnEnd, UserMessage } from '../../task/events.ts';
import type { Snapshot, TaskWithEarlierTasks } from '../../task/snapshot.ts';
import { NO_USAGE, type Model, type ModelEvent, type Models } from '../model.ts';
import { offerOneModel } from '../offer-one-model.ts';
import { SignInNeededError } from './agent-connection.ts';
import { acpAgentName } from './agent-program.ts';
import { buildAcpPrompt, buildAcpPromptAfterCancel } from './agent-prompt.ts';
import { AcpSessionUpdates } from './session-updates.ts';
import { sendAcpPrompt, type AcpAgentInUse, type LiveAcpAgents } from './live-agents.ts';
import type { AcpAgentEvent, LiveAcpAgent } from './live-agent.ts';
import { rememberedAcpSession } from './open-agent.ts';
import { rejectSettledRequests } from './run-permitted.ts';

export function createAcpModels(agents: LiveAcpAgents): Models {
  const name = acpAgentName(agents.options.agent);
  return offerOneModel(acpModel(agents), `its agent ${name} chooses the model`);
}

function acpModel(agents: LiveAcpAgents): Model {
  return {
    id: `acp:${acpAgentName(agents.options.agent)}`,
    // Only a running agent reports whether it accepts images. The server must know this before the agent runs, so the
    // model accepts no images.
    fileAdvice:
      'Put the files into the workspace and name them in the message: an ACP agent reads them itself.',
    async *stream({ place, signal }) {
      if (place === undefined) throw new Error('an ACP agent needs a task');
      const used = await obtain(agents, place);
      if ('end' in used) return yield { type: 'finish', end: used.end, usage: NO_USAGE };
      const { agent, sessionId, release } = used;
      let whole = false;
      try {
        signal.throwIfAborted();
        if (sessionId !== rememberedAcpSession(place)) yield { type: 'session', agentSessionId: sessionId };
        const end = yield* modelEventsOfPrompt(agent, place, { agents, signal });
        whole = true;
        yield { type: 'finish', end, usage: NO_USAGE };
      } finally {
        // An interrupted turn cancels its prompt. Either the next turn sends a new prompt, or the task has ended.
        if (!whole) void agent.cancel();
        release();
      }
    },
  };
}

/** Gets the agent. If the agent cannot start, returns the end of the turn, with a message that says what to do next. */
async function obtain(
  agents: LiveAcpAgents,
  place: TaskWithEarlierTasks,
): Promise<AcpAgentInUse | { end: TurnEnd }> {
  try {
    return await agents.use(place, 'turn');
  } catch (error) {
    if (error instanceof SignInNeededError)
      return { end: { type: 'auth-required', question: errorMessageOf(error) } };
    return { end: failedTurn(errorMessageOf(error)) };
  }
}

async function* modelEventsOfPrompt(
  agent: LiveAcpAgent,
  place: TaskWithEarlierTasks,
  { agents, signal }: { agents: LiveAcpAgents; signal: AbortSignal },
): AsyncGenerator<ModelEvent, TurnEnd, undefined> {
  const { task, workspace } = place;
  const given = new AcpSessionUpdates(workspace);
  if (agent.speaking) rejectSettledRequests(agent, task);
  else if (agent.failure === undefined)
    sendAcpPrompt(agent, buildAcpPrompt(task, undeliveredMessages(agent, task)));
  let resumed = false;
  let gathered = false;
  for (;;) {
    const item = await agent.next(signal);
    if (item.type === 'update') {
      yield* updateEvents(item, agent, given);
      continue;
    }
    yield* given.thought();
    if (item.type === 'failed') return failedTurn(item.message);
    if (item.type === 'asks') {
      // The turn waits a moment after the first request. Agents send parallel requests at almost the same time, so
      // the person then sees all of them together.
      if (!gathered) {
        gathered = true;
        await delay(agents.options.clock, agents.options.gatherMs, signal);
        continue;
      }
      for (const { toolCallId, tool, input } of agent.waiting)
        yield { type: 'call', modelCallId: toolCallId, tool, input };
      return 'tool-calls';
    }
    const more = undeliveredMessages(agent, task);
    // The task was not cancelled, because its signal has not fired. So a person stopped a tool call, and the stop
    // cancelled the prompt. A new prompt lets the agent continue.
    if (item.stopReason === 'cancelled' && !resumed) {
      resumed = true;
      sendAcpPrompt(agent, buildAcpPromptAfterCancel(task, more));
    } else if (more.length > 0) sendAcpPrompt(agent, buildAcpPrompt(task, more));
    else return endOf(item.stopReason);
  }
}

function* updateEvents(
  item: Extract<AcpAgentEvent, { type: 'update' }>,
  agent: LiveAcpAgent,
  given: AcpSessionUpdates,
): Generator<ModelEvent> {
  const { update } = item;
  const about = 'toolCallId' in update ? agent.toolCall(update.toolCallId) : undefined;
  yield* given.of(update, about);
}

/** Returns the messages that the agent has not received yet. Agent commands are left out. */
function undeliveredMessages(agent: LiveAcpAgent, { exchanges }: Snapshot): UserMessage[] {
  return exchanges.flatMap((exchange) =>
    exchange.type === 'message' &&
    exchange.message.command === undefined &&
    !agent.delivered.has(exchange.message.messageId)
      ? [exchange.message]
      : [],
  );
}

function failedTurn(message: string): TurnEnd {
  return {
    type: 'failed',
    message: `${message} To continue, send another message in the session. Then the agent starts again.`,
  };
}

function endOf(reason: StopReason): TurnEnd {
  switch (reason) {
    case 'end_turn':
      return 'stop';
    case 'max_tokens':
      return 'length';
    case 'max_turn_requests':
      return failedTurn('The agent has reached its maximum number of model requests for one message.');
    case 'refusal':
      return { type: 'rejected', message: 'The agent refused to continue.' };
    case 'cancelled':
      return failedTurn('The agent reports that it cancelled its work.');
  }
}
