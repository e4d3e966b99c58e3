/** Connects to one agent: reads its card, chooses the transport and the dialect, and sends requests. */
import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { isDeepStrictEqual } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Extensions,
  HTTP_EXTENSION_HEADER,
  A2A_PROTOCOL_VERSION,
  A2A_VERSION_HEADER,
  TaskState,
} from '@a2a-js/sdk';
import type { Message, StreamResponse, Task } from '@a2a-js/sdk';
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { AGENT_COMMAND_EXTENSION, commandListSchema } from '../../shared/protocol/agent-command.ts';
import type { CommandCall, OfferedCommand } from '../../shared/protocol/agent-command.ts';
import {
  costReportSchema,
  taskCostsSchema,
  type CostReport,
  type TaskCosts,
} from '../../shared/protocol/cost-report.ts';
import type { PageTarget } from '../../shared/net/page-address.ts';
import { THINKING_EXTENSION } from '../../shared/protocol/extensions.ts';
import { RESUMABLE_STREAM_EXTENSION } from '../../shared/protocol/resumable-stream-extension.ts';
import { taskSearchResultSchema, type TasksByIdPrefix } from '../../shared/protocol/task-search-result.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../shared/protocol/tool-approval.ts';
import { type AbortAnswer, abortAnswerSchema } from '../../shared/protocol/abort-answer.ts';
import { chooseDialect } from '../dialects/choose-dialect.ts';
import type { Dialect, DialectName } from '../dialects/dialect.ts';
import { createAgentFetch } from './http/agent-fetch.ts';
import { type AgentCardFacts, declaresExtension, fetchAgentCard, resumableStreamUrl } from './card.ts';
import { requestFailure } from './request-failure.ts';
import { losesChunks, readableEvents, withoutStreaming } from './sdk-workarounds.ts';
import { isNotFound, refuseErrorResponse } from './http/rest-refusal.ts';
import { filterTasksByState, listTasksOfAgent, type ListedTasks, type TaskQuery } from './list-tasks.ts';
import { readResumableEvents } from './resumable-events.ts';
import { executeGeminiCommand, fetchGeminiCommands, type GeminiCommandAnswer } from './gemini-commands.ts';
import { listGeminiTasks } from './gemini-tasks.ts';
import { requestPageLink } from './page-link.ts';
import type { PageLink } from './page-link.ts';
import { taskAsStreamResponse } from './task-as-stream-response.ts';

export interface A2aConnection {
  readonly url: string;
  readonly facts: AgentCardFacts;
  readonly dialect: Dialect;
  /** True if the agent recognizes a repeated message by its id. The bridge may then send a message twice. */
  readonly deduplicates: boolean;
  /**
   * True if the agent keeps a stream open while the task waits for a person. Such a stream reports the decisions of
   * other clients.
   */
  readonly staysOpen: boolean;
  send(message: Message, signal: AbortSignal): AsyncIterable<StreamResponse>;
  /** Reads the task's stream until it ends or `onEvent` returns `enough`. */
  follow(task: FollowOptions): Promise<void>;
  task(taskId: string): Promise<Task>;
  cancel(taskId: string, by: CancelDetails): Promise<Task>;
  /** Lists at most `limit` tasks. Null if the agent cannot list tasks. */
  list(query: TaskQuery, limit?: number): Promise<ListedTasks | null>;
  /** Finds tasks by a prefix of their id. Null if the agent cannot do this. */
  findByPrefix(prefix: string): Promise<TasksByIdPrefix | null>;
  /** Returns the costs of the last days, by UTC day. Null if the agent does not report costs. */
  costs(days: number): Promise<CostReport | null>;
  /** Returns the cost of each model request of the task. Null if the agent does not report costs. */
  taskCosts(taskId: string): Promise<TaskCosts | null>;
  /**
   * Returns the signed receipt of a task. `events` limits the receipt to the first events of the task. Null if the
   * agent has no such task, or makes no receipts.
   */
  receipt(taskId: string, as: ReceiptMediaType, events?: number): Promise<string | null>;
  /** Returns the fingerprint of the key with which the agent signs receipts. Null if the agent makes no receipts. */
  receiptKey(): Promise<string | null>;
  /** Lists the commands that the agent offers. Null if it does not declare the extension for commands. */
  commands(): Promise<readonly OfferedCommand[] | null>;
  /** Runs a command outside of a task. Null if the agent does not run commands in this way. */
  execute(command: CommandCall): Promise<GeminiCommandAnswer | null>;
  /** Aborts one tool execution. Null if the agent cannot abort single tool executions. */
  abortTool(toolId: string, reason: string): Promise<AbortAnswer | null>;
  /**
   * Creates a one-time link to the agent's approval page. Null if the agent has no page. The link gives access, so a
   * model must not see it.
   */
  pageLink(target: PageTarget): Promise<PageLink | null>;
}

export type ReceiptMediaType = 'application/json' | 'text/markdown';

/** Who cancels a task, and why. The agent records both. */
export interface CancelDetails {
  reason: string;
  channel: 'mcp' | 'cli';
}

const receiptKeySchema = z.object({ fingerprint: z.string() });

/** Whether a reader needs more events. */
export type MoreOrEnough = 'more' | 'enough';

interface FollowOptions {
  taskId: string;
  /** The `seq` of the last event that was read. Null if the events have no `seq`. */
  after: number | null;
  /** True to receive the model's reasoning too, if the agent declares the extension for it. */
  thinking?: boolean | undefined;
  signal: AbortSignal;
  onOpen?: () => void;
  /** If this returns a promise, the next event is read after the promise resolves. */
  onEvent: (event: StreamResponse) => MoreOrEnough | Promise<MoreOrEnough>;
}

export interface ConnectOptions {
  url: string;
  /** The URL of the agent card. Absent if the card is at its usual place below `url`. */
  cardUrl?: string | undefined;
  /** The public keys that may sign the card. If absent, the card needs no signature. */
  cardKeys?: readonly KeyObject[] | undefined;
  /** Headers for every request, for example `authorization`. */
  headers: Readonly<Record<string, string>>;
  /** The dialect from the settings. If absent, the card determines the dialect. */
  dialect?: DialectName | undefined;
  /** Returns true if the process behind the URL has ended. Another program may then listen on its port. */
  isGone?: () => boolean;
  /** A sentence about the agent that the user should read once. */
  notice?: string | undefined;
}

/**
 * The time limit in milliseconds: for a request with one response, until the whole response has arrived; for a
 * resumable stream, until its first byte.
 */
const ANSWER_TIMEOUT_MS = 20_000;
/** The maximum time without data on a resumable stream, in milliseconds. The agent sends heartbeats more often. */
const MAX_SILENCE_MS = 60_000;
/**
 * The maximum time without data on other streams, in milliseconds. Their agents may work for minutes without sending
 * anything. After this time, the bridge fetches the task and opens the stream again.
 */
const MAX_SILENCE_WITHOUT_HEARTBEATS_MS = 15 * 60_000;
/** The interval in milliseconds at which the bridge fetches the task of an agent without streams. */
const POLL_MS = 2_000;
/**
 * How often the bridge fetches a task that waits for a person and does not change. Such an agent may repeat an answered
 * question until it begins to work. After that, the bridge believes that the agent asks again.
 */
const MAX_UNCHANGED_POLLS = 15;
/**
 * The configuration of messages to agents without streams. By default, such an agent responds only when the task has
 * ended or waits (A2A 1.0 §3.2.2). Until then, the bridge would not know whether the message has arrived. So it demands
 * an immediate response.
 */
const RETURN_IMMEDIATELY = {
  acceptedOutputModes: [],
  taskPushNotificationConfig: undefined,
  returnImmediately: true,
};
/**
 * The number of history messages that the bridge fetches with a task. Agents without the tool-approval extension store
 * pending calls there.
 */
const HISTORY_MESSAGES = 100;
/**
 * The maximum number of tasks that the bridge fetches completely while it lists tasks. It does this for agents that
 * list only task ids.
 */
const MAX_FETCHED_TASKS = 20;

/** @throws any error of the request for the card. `Agent.failed` converts it to a ProductError. */
export async function connectToAgent(endpoint: ConnectOptions): Promise<A2aConnection> {
  const origin = new URL(endpoint.url).origin;
  const { headers: credentials, isGone } = endpoint;
  const peer = { origin, headers: credentials, ...(isGone && { isGone }) };
  const plainFetch = createAgentFetch(peer);
  const { card, facts: declared } = await fetchAgentCard(
    endpoint.cardUrl ?? endpoint.url,
    (input, init) => plainFetch(input, { ...init, signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) }),
    endpoint.cardKeys,
  );
  const resumable = resumableStreamUrl(declared);
  const dialect = chooseDialect(
    { name: declared.name, extensions: declared.extensions.map((each) => each.uri) },
    endpoint.dialect,
  );
  const fetchImpl = createAgentFetch({
    ...peer,
    ...(dialect.hazards.socketEndAborts && { postSockets: 'own' }),
    ...(resumable === null
      ? {
          timeouts: {
            beginningMs: MAX_SILENCE_WITHOUT_HEARTBEATS_MS,
            silenceMs: MAX_SILENCE_WITHOUT_HEARTBEATS_MS,
          },
        }
      : { timeouts: { beginningMs: ANSWER_TIMEOUT_MS, silenceMs: MAX_SILENCE_MS } }),
  });
  const options = { fetchImpl, legacyCompat: { enabled: true } };
  const factory = new ClientFactory({
    // A2A 1.0 §8.3.2: a client uses the first interface of the card that it supports. So the bridge itself prefers no
    // transport.
    transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
  });
  const streamed = await factory.createFromAgentCard(card);
  const streaming = declared.streaming && !losesChunks(streamed);
  const client = streaming ? streamed : await factory.createFromAgentCard(withoutStreaming(card));
  const facts = { ...declared, streaming };
  const extensions = [TOOL_APPROVAL_EXTENSION, RESUMABLE_STREAM_EXTENSION, AGENT_COMMAND_EXTENSION].filter(
    (uri) => declaresExtension(facts, uri),
  );
  const serviceParameters = parametersFor(extensions);
  const once = () => ({ serviceParameters, signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });

  const get = async (url: URL, accept?: string): Promise<Response> =>
    refuseErrorResponse(
      await fetchImpl(url, {
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
        ...(accept !== undefined && { headers: { accept } }),
      }),
    );

  /**
   * Sends a GET request to a URL of the agent that is not part of A2A. Returns null if the agent does not have this
   * URL.
   */
  async function askEndpoint<T>(
    schema: { parse: (answer: unknown) => T },
    path: string,
    parameters: Readonly<Record<string, string>>,
  ): Promise<T | null> {
    const answer = await askForText(path, parameters);
    return answer === null ? null : schema.parse(JSON.parse(answer));
  }

  /** Like `askEndpoint`, but returns the text of the response. */
  async function askForText(
    path: string,
    parameters: Readonly<Record<string, string>>,
    accept?: string,
  ): Promise<string | null> {
    if (!declaresExtension(facts, TOOL_APPROVAL_EXTENSION)) return null;
    const url = new URL(path, endpoint.url);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    try {
      return await (await get(url, accept)).text();
    } catch (error) {
      // A server that implements the extension may still lack this URL.
      if (isNotFound(error)) return null;
      throw error;
    }
  }

  const taskOf = (id: string): Promise<Task> =>
    client.getTask({ tenant: '', id, historyLength: HISTORY_MESSAGES }, once());

  /**
   * Follows a task of an agent that has no cursors. The first event is the current task, so it includes the missed
   * events. If the agent has no streams, or refuses this one, each change of the fetched task is an event.
   */
  async function* currentThenNext(
    id: string,
    signal: AbortSignal,
    onOpen: () => void,
  ): AsyncIterable<StreamResponse> {
    let now = await taskOf(id);
    onOpen();
    yield taskAsStreamResponse(now);
    if (facts.streaming) {
      try {
        yield* client.resubscribeTask({ tenant: '', id }, { serviceParameters, signal });
        return;
      } catch (error) {
        // The server of the Python SDK 0.3 has a stream only while the request for the work is open. Then it answers
        // that it does not know the task, although it does.
        if (requestFailure(error, '').arrival !== 'refused') throw error;
      }
    }
    for (let unchanged = 0; isMoving(now) || (isWaiting(now) && unchanged < MAX_UNCHANGED_POLLS);) {
      await delay(POLL_MS, undefined, { signal });
      const before = now;
      now = await taskOf(id);
      unchanged = isDeepStrictEqual(before, now) ? unchanged + 1 : 0;
      if (unchanged === 0) yield taskAsStreamResponse(now);
    }
  }

  return {
    url: endpoint.url,
    facts,
    dialect,
    deduplicates: declaresExtension(facts, RESUMABLE_STREAM_EXTENSION),
    staysOpen: resumable !== null,
    send: (message, signal) =>
      readableEvents(
        client.sendMessageStream(
          {
            tenant: '',
            message,
            configuration: facts.streaming ? undefined : RETURN_IMMEDIATELY,
            metadata: undefined,
          },
          { serviceParameters, signal },
        ),
      ),
    async follow({ taskId, after, thinking, signal, onOpen = () => undefined, onEvent }) {
      const streams = thinking === true && declaresExtension(facts, THINKING_EXTENSION);
      const headers = {
        ...parametersFor(streams ? [...extensions, THINKING_EXTENSION] : extensions),
        [A2A_VERSION_HEADER]: A2A_PROTOCOL_VERSION,
      };
      const events =
        resumable === null
          ? currentThenNext(taskId, signal, onOpen)
          : readResumableEvents({
              url: `${resumable}/tasks/${encodeURIComponent(taskId)}:subscribe`,
              headers,
              after,
              fetch: fetchImpl,
              signal,
              onOpen,
            });
      for await (const event of events) {
        const verdict = onEvent(event);
        if ((typeof verdict === 'string' ? verdict : await verdict) === 'enough') return;
      }
    },
    task: taskOf,
    cancel: (id, { reason, channel }) =>
      client.cancelTask({ tenant: '', id, metadata: { reason, channel } }, once()),
    async list(query, limit) {
      const { sessionId = '', state } = query;
      if (dialect.name === 'gemini') {
        const all = await listGeminiTasks(endpoint.url, get);
        if (all === null) return null;
        const matching = filterTasksByState(all, state).filter(
          ({ contextId }) => sessionId === '' || contextId === sessionId,
        );
        const wanted = matching.slice(0, limit);
        // The list omits pending calls, so the bridge fetches the complete tasks.
        const whole = wanted.slice(0, MAX_FETCHED_TASKS).map(({ id }) => taskOf(id).catch(unlessUnknownTask));
        const known = [...(await Promise.all(whole)), ...wanted.slice(MAX_FETCHED_TASKS)];
        const tasks = known.filter((task) => task !== undefined);
        return { tasks, total: matching.length - (known.length - tasks.length) };
      }
      if (client.protocolVersion.startsWith('0.')) return null;
      return listTasksOfAgent((params) => client.listTasks(params, once()), query, limit);
    },
    findByPrefix: (prefix) => askEndpoint(taskSearchResultSchema, '/api/tasks', { prefix }),
    costs: (days) => askEndpoint(costReportSchema, '/api/costs', { days: String(days) }),
    taskCosts: (id) => askEndpoint(taskCostsSchema, `/api/tasks/${encodeURIComponent(id)}/costs`, {}),
    receipt: (taskId, as, events) =>
      askForText(
        `/api/tasks/${encodeURIComponent(taskId)}/receipt`,
        events === undefined ? {} : { events: String(events) },
        as,
      ),
    receiptKey: async () =>
      (await askEndpoint(receiptKeySchema, '/api/receipt-key', {}))?.fingerprint ?? null,
    async commands() {
      if (dialect.name === 'gemini') return fetchGeminiCommands(endpoint.url, get);
      if (!declaresExtension(facts, AGENT_COMMAND_EXTENSION)) return null;
      const response = await get(new URL('/api/commands', endpoint.url));
      return commandListSchema.parse(await response.json()).commands;
    },
    execute: async (command) =>
      dialect.name === 'gemini' ? executeGeminiCommand(endpoint.url, command, fetchImpl) : null,
    async abortTool(toolId, reason) {
      if (!declaresExtension(facts, TOOL_APPROVAL_EXTENSION)) return null;
      const response = await fetchImpl(
        new URL(`/api/tools/abort/${encodeURIComponent(toolId)}`, endpoint.url),
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'application/json' },
          body: JSON.stringify({ reason }),
          signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
        },
      );
      return abortAnswerSchema.parse(await (await refuseErrorResponse(response)).json());
    },
    async pageLink(target) {
      if (!declaresExtension(facts, TOOL_APPROVAL_EXTENSION)) return null;
      return requestPageLink(target, {
        url: endpoint.url,
        origins: facts.interfaces.map(({ url }) => url),
        fetch: fetchImpl,
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
    },
  };
}

/** Returns the request header that activates these extensions. */
function parametersFor(extensions: readonly string[]): Record<string, string> {
  return extensions.length === 0
    ? {}
    : { [HTTP_EXTENSION_HEADER]: Extensions.toServiceParameter([...extensions]) };
}

/** Handles the error of a request for a task. Ignores that the agent has forgotten the task since it listed it. */
function unlessUnknownTask(error: unknown): undefined {
  if (requestFailure(error, '').error.reason !== 'UNKNOWN_TASK') throw error;
}

function isWaiting({ status }: Task): boolean {
  const state = status?.state;
  return state === TaskState.TASK_STATE_INPUT_REQUIRED || state === TaskState.TASK_STATE_AUTH_REQUIRED;
}

function isMoving({ status }: Task): boolean {
  return status?.state === TaskState.TASK_STATE_SUBMITTED || status?.state === TaskState.TASK_STATE_WORKING;
}
