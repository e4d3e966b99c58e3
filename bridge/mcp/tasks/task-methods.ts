import {
  type McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { escapeHiddenCharacters } from '../../../shared/text/visible-text.ts';
import { noteLateFailure, sentInTime } from '../../approvals/sent-in-time.ts';
import { declaresTasksIn, opensUrlsIn } from '../../approvals/tool-call-client.ts';
import type { BridgeContext } from '../bridge-context.ts';
import type { ToolName } from '../../tool-names/tool-names.ts';
import { TASKS_EXTENSION } from '../../approvals/tool-call-client.ts';
import { toolCallWaitMs } from '../tool/answer-tool-call.ts';
import type { DetailedTask } from './detailed-task.ts';
import { findMcpTask, type TaskReplyContext, currentMcpTask } from './find-task.ts';
import type { McpServerOptions, ServedMcpClient } from '../tool/tool-serving-context.ts';
import { decodeMcpTaskId } from '../../sessions/mcp-task-id.ts';

const taskParams = z.looseObject({ taskId: z.string() });
const streamParams = z.looseObject({ taskId: z.string(), after: z.int().min(0).optional() });
const anyResult = z.looseObject({});

type TaskMethodOptions = Pick<McpServerOptions, 'prefix' | 'log' | 'draftProtocols' | 'bridge'> &
  Pick<ServedMcpClient, 'followed'>;

/** The response that only acknowledges a request. The client reads the outcome with `tasks/get`. */
const ACKNOWLEDGED = { resultType: 'complete' };

export function registerTaskMethods(
  { server }: McpServer,
  { prefix, log, draftProtocols, followed, bridge }: TaskMethodOptions,
): void {
  const streams = draftProtocols.includes('mcp-tasks-stream');
  // SEP-2694: "implementations MAY advertise this support as an `eventStreams` sub-capability of Tasks".
  const declared = streams ? { eventStreams: {} } : {};
  server.registerCapabilities({ extensions: { [TASKS_EXTENSION]: declared } });
  const name = (tool: ToolName): string => `${prefix}${tool}`;

  server.setRequestHandler(
    'tasks/get',
    { params: taskParams, result: anyResult },
    async ({ taskId }, context) => {
      requireTasks(context);
      const opensUrls = opensUrlsIn(context);
      return {
        resultType: 'complete',
        ...(await withProtocolErrors(() => shownTask(taskId, { bridge, name, opensUrls, followed }))),
      };
    },
  );

  server.setRequestHandler(
    'tasks/update',
    { params: taskParams, result: anyResult },
    async ({ taskId }, context) => {
      requireTasks(context);
      // The SDK moves `inputResponses` from the parameters to the context.
      const { inputResponses: responses } = context.mcpReq;
      if (responses === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'tasks/update takes inputResponses.');
      await withProtocolErrors(async () => {
        const opened = await bridge();
        const { session, current } = await findMcpTask(opened, taskId);
        if (!current) return;
        await session.refresh();
        const { formHistory, links, rules } = opened;
        const answers = { responses, channel: 'task-form' } as const;
        const { submitFormAnswers } = await import('../../approvals/submit-form-answers.ts');
        const submitted = submitFormAnswers({ session, ...answers, formHistory, links, rules });
        const reported = submitted.then(({ decided, unanswered, refused, late }) => {
          // `tasks/update` only acknowledges the answers. So the session keeps a note about answers that did not count,
          // and the result of the task contains the note.
          session.leaveNotes([
            ...late,
            ...(refused === undefined ? [] : [`The answer in the form did not count: ${refused}`]),
          ]);
          return log.info(
            { sessionId: session.id, decided, unanswered, refused },
            'the client answered the forms of a task',
          );
        });
        const timeout = toolCallWaitMs(opened.defaults.waitSeconds, false);
        const { signal } = context.mcpReq;
        if ((await sentInTime(reported, { timeout, signal })) !== 'unconfirmed') return;
        noteLateFailure(session, reported);
      });
      return ACKNOWLEDGED;
    },
  );

  server.setRequestHandler(
    'tasks/cancel',
    { params: taskParams, result: anyResult },
    async ({ taskId }, context) => {
      requireTasks(context);
      await withProtocolErrors(async () => {
        const opened = await bridge();
        const { session, current } = await findMcpTask(opened, taskId);
        // If the session has a newer task, this one has already ended.
        if (!current) return;
        const outcome = await opened.delegations.cancel(
          session,
          'no reason was given',
          context.mcpReq.signal,
        );
        // The client knows that the task was cancelled, and may never request the result. So it counts as collected.
        if (outcome === 'cancelled') opened.delegations.collect(session);
      });
      return ACKNOWLEDGED;
    },
  );

  if (streams) offerStreams(server, bridge);
}

function offerStreams(server: McpServer['server'], bridge: () => Promise<BridgeContext>): void {
  /** The tasks whose events this connection streams, with the signals of the requests. */
  const open = new Map<string, AbortSignal>();
  server.setRequestHandler(
    'tasks/stream',
    { params: streamParams, result: anyResult },
    async (params, context) => {
      requireTasks(context);
      const { taskId } = params;
      // SEP-2694: "at most one active `tasks/stream` request per task per connection".
      if (open.get(taskId)?.aborted === false)
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `This connection streams task ${taskId} already. Cancel that request first.`,
        );
      const { signal, notify } = context.mcpReq;
      open.set(taskId, signal);
      try {
        await withProtocolErrors(async () => {
          const opened = await bridge();
          const { streamTask } = await import('./stream-task.ts');
          return streamTask(params, {
            bridge: opened,
            signal,
            send: (event) => notify({ method: 'notifications/tasks/event', params: { ...event } }),
          });
        });
      } finally {
        if (open.get(taskId) === signal) open.delete(taskId);
      }
      return ACKNOWLEDGED;
    },
  );
}

/** Returns the current state of a task. @throws ProductError if the task does not exist */
async function shownTask(
  id: string,
  { bridge, ...showing }: Omit<TaskReplyContext, 'bridge'> & { bridge: () => Promise<BridgeContext> },
): Promise<DetailedTask> {
  const opened = await bridge();
  try {
    return await currentMcpTask(id, await findMcpTask(opened, id), { bridge: opened, ...showing });
  } catch (error) {
    // If the agent cannot be reached, the task still exists. So the client must continue to poll.
    if (!(error instanceof ProductError) || !error.retryable || decodeMcpTaskId(id) === undefined)
      throw error;
    const now = new Date().toISOString();
    return {
      taskId: id,
      status: 'working',
      statusMessage: escapeHiddenCharacters(error.message),
      createdAt: now,
      lastUpdatedAt: now,
      ttlMs: null,
      pollIntervalMs: UNREACHABLE_AGENT_POLL_MS,
    };
  }
}

const UNREACHABLE_AGENT_POLL_MS = 5_000;

function requireTasks(context: ServerContext): void {
  if (declaresTasksIn(context)) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  });
}

/**
 * Runs a method, and converts its errors. B4: a protocol failure is a JSON-RPC error. The tasks extension defines the
 * codes.
 */
async function withProtocolErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const unknown =
      error instanceof ProductError &&
      (error.reason === 'UNKNOWN_SESSION' || error.reason === 'UNKNOWN_TASK');
    throw new ProtocolError(
      unknown ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
      escapeHiddenCharacters(errorMessageOf(error)),
    );
  }
}
