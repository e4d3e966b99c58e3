/**
 * Implements the SDK's `A2ARequestHandler` with the task service. docs/decisions/own-request-handler.md explains why
 * the server does not use the SDK's handler.
 */
import type { AgentCard, Task } from '@a2a-js/sdk';
import { UnsupportedOperationError } from '@a2a-js/sdk/errors';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { ToolServerView } from '../../../shared/protocol/tool-approval.ts';
import { isDecisionOrRevocation } from '../../executor/messages/client-message.ts';
import type { TaskService } from '../../executor/task-service.ts';
import { A2aRequestContext } from '../auth/a2a-request-context.ts';
import { toPermittedMessage } from '../auth/permitted-message.ts';
import { parseOutputModes } from '../wire/output-modes.ts';
import type { DisconnectHandler } from '../streams/on-disconnect.ts';
import type { PushConfigurations } from '../../push/push-configurations.ts';
import { createPushMethods } from '../push/push-methods.ts';
import { listTasks } from './task-list.ts';
import { toA2aTask } from '../wire/task-projection.ts';
import { waitForReplyMessage, sendAndFollow, subscribeToTask } from '../streams/task-stream.ts';
import { waitForNewGeneration } from '../streams/long-poll-task.ts';
import { notCancelableError } from '../wire/wire-errors.ts';

/** The metadata of a cancel: the reason, and the channel, such as a form or the page. The journal records both. */
const cancelMetadata = z.object({
  reason: z.string().min(1).max(10_000).catch('no reason was given'),
  channel: z.string().min(1).max(50).catch('a2a'),
});

interface RequestHandlerOptions {
  servers: () => readonly ToolServerView[];
  disconnects: DisconnectHandler;
  push: PushConfigurations;
}

export function createRequestHandler(
  tasks: TaskService,
  card: AgentCard,
  { servers, disconnects, push }: RequestHandlerOptions,
): A2ARequestHandler {
  const pushes = createPushMethods(push, tasks);
  return {
    getAgentCard: () => Promise.resolve(card),

    // A2A 1.0 §3.3.4: the card names no extended card, so this method is not supported.
    getAuthenticatedExtendedAgentCard: () =>
      Promise.reject(new UnsupportedOperationError('This agent has no extended card. Use the public card.')),

    sendMessage: (request, server) =>
      answerOrRefuse(server, async (context) => {
        const historyLength = request.configuration?.historyLength;
        const outputModes = parseOutputModes(request);
        const { principal, requester, signal } = context.caller;
        const incoming = toPermittedMessage(request, context);
        const waits = request.configuration?.returnImmediately !== true;
        if (waits) context.caller.becomeStream();
        const { taskId, sessionId, seq } = await pushes.send(request.configuration, incoming, context);
        context.caller.addFacts({ taskId, sessionId });
        const message = isDecisionOrRevocation(incoming) ? undefined : { principal, seq };
        if (!waits && message) disconnects.detach(taskId);
        const ends = waits ? disconnects.reads(taskId, message) : undefined;
        try {
          if (waits) for await (const _ of tasks.follow(taskId, seq, { until: 'settled', signal }));
          const snapshot = await tasks.snapshot(taskId, requester);
          return snapshot.answer === 'message'
            ? await waitForReplyMessage(tasks, snapshot, context)
            : toA2aTask(snapshot, context.wireOptions(snapshot, outputModes), { historyLength });
        } finally {
          ends?.(context.caller.end());
        }
      }),

    sendMessageStream: (request, server) =>
      sendAndFollow({ tasks, disconnects, pushes }, request, A2aRequestContext.of(server)),

    resubscribe: (request, server) =>
      subscribeToTask({ tasks, disconnects }, request, A2aRequestContext.of(server)),

    getTask: (request, server) =>
      answerOrRefuse(server, async (context) => {
        const { historyLength } = request;
        context.caller.addFacts({ taskId: request.id });
        const snapshot = await waitForNewGeneration({ tasks, disconnects }, request.id, context);
        const sessionCost = await tasks.sessionCost(snapshot.principal, snapshot.sessionId);
        return toA2aTask(snapshot, context.wireOptions(snapshot), {
          historyLength,
          servers: servers(),
          sessionCost,
        });
      }),

    listTasks: (request, server) => answerOrRefuse(server, (context) => listTasks(tasks, request, context)),

    cancelTask: (request, server) =>
      answerOrRefuse(server, async (context): Promise<Task> => {
        const { reason, channel } = cancelMetadata.parse(request.metadata ?? {});
        const by = { ...context.caller.requester, channel };
        context.caller.addFacts({ taskId: request.id });
        try {
          const snapshot = await tasks.cancel(request.id, by, reason);
          const sessionCost = await tasks.sessionCost(snapshot.principal, snapshot.sessionId);
          return toA2aTask(snapshot, context.wireOptions(snapshot), { sessionCost });
        } catch (error) {
          if (error instanceof ProductError && error.reason === 'TASK_ENDED')
            throw notCancelableError(error, context.wire);
          throw error;
        }
      }),

    createTaskPushNotificationConfig: (config, server) =>
      answerOrRefuse(server, (context) => pushes.create(config, context)),
    getTaskPushNotificationConfig: (request, server) =>
      answerOrRefuse(server, (context) => pushes.get(request, context)),
    listTaskPushNotificationConfigs: (request, server) =>
      answerOrRefuse(server, (context) => pushes.list(request, context)),
    deleteTaskPushNotificationConfig: (request, server) =>
      answerOrRefuse(server, (context) => pushes.delete(request, context)),
  };
}

async function answerOrRefuse<T>(
  server: ServerCallContext,
  answer: (context: A2aRequestContext) => Promise<T>,
): Promise<T> {
  const context = A2aRequestContext.of(server);
  try {
    return await answer(context);
  } catch (error) {
    throw context.refusal(error);
  }
}
