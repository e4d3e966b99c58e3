/** A connection to one agent: reads the card, chooses transport and dialect, and sends the requests. */
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
import { AGENT_COMMAND, commandListSchema } from '../../shared/protocol/agent-command.ts';
import type { CommandCall, OfferedCommand } from '../../shared/protocol/agent-command.ts';
import { costReportSchema, type CostReport } from '../../shared/protocol/cost-report.ts';
import type { PageTarget } from '../../shared/net/page-address.ts';
import { RESUMABLE_STREAM } from '../../shared/protocol/resumable-stream-extension.ts';
import { taskSearchResultSchema, type TaskSearchResult } from '../../shared/protocol/task-search.ts';
import { TOOL_APPROVAL } from '../../shared/protocol/tool-approval.ts';
import { type AbortAnswer, abortAnswerSchema } from '../../shared/protocol/abort-answer.ts';
import { chooseDialect } from '../dialects/choose-dialect.ts';
import type { Dialect, DialectName } from '../dialects/dialect.ts';
import { agentFetch } from './agent-fetch.ts';
import { type CardFacts, declaresExtension, fetchCard, resumableUrl } from './card.ts';
import { HttpFailure } from './http-failure.ts';
import { tasksInState, listTasks, type ListedTasks, type TaskQuery } from './list-tasks.ts';
import { resumableEvents } from './resumable-events.ts';
import { executeGeminiCommand, geminiCommands, type CommandAnswer } from './gemini-commands.ts';
import { geminiTasks } from './gemini-tasks.ts';
import { makePageLink } from './page-link.ts';
import type { PageLink } from './page-link.ts';
import { asStreamResponse } from './task-event.ts';

export interface A2aConnection {
  readonly url: string;
  readonly facts: CardFacts;
  readonly dialect: Dialect;
  /** True if the agent de-duplicates messages by their id. The bridge may then send a message again. */
  readonly deduplicates: boolean;
  /**
   * True if the agent keeps a task's streams open while the task waits. Such streams report the decisions of other
   * clients.
   */
  readonly staysOpen: boolean;
  send(message: Message, signal: AbortSignal): AsyncIterable<StreamResponse>;
  /** Reads the task's stream until the stream ends or `onEvent` returns `enough`. */
  follow(task: FollowOptions): Promise<void>;
  task(taskId: string): Promise<Task>;
  cancel(taskId: string, by: CancelRequest): Promise<Task>;
  /** Lists at most `limit` tasks; null if the agent cannot list tasks. */
  list(query: TaskQuery, limit?: number): Promise<ListedTasks | null>;
  /** Finds tasks by the beginning of an id; null if the agent has no such query. */
  findByPrefix(prefix: string): Promise<TaskSearchResult | null>;
  /** The costs of today and of the days before, by UTC day; null if the agent does not report costs. */
  costs(days: number): Promise<CostReport | null>;
  /** The agent's commands; null if the agent declares none. */
  commands(): Promise<readonly OfferedCommand[] | null>;
  /** Runs a command outside of a task. Null if the agent takes commands only as messages, or has none. */
  execute(command: CommandCall): Promise<CommandAnswer | null>;
  /** Aborts one tool execution. Null if the agent has no such request. */
  abortTool(toolId: string, reason: string): Promise<AbortAnswer | null>;
  /** Makes a one-time link to the agent's approval page; null for an agent without one. Do not show it to a model. */
  pageLink(target: PageTarget): Promise<PageLink | null>;
}

/** The agent records the reason and the channel with the cancel. */
export interface CancelRequest {
  reason: string;
  /** The surface that the person used. */
  channel: 'mcp' | 'cli';
}

interface FollowOptions {
  taskId: string;
  /** The `seq` of the last event that was read; null if the agent has none. */
  after: number | null;
  signal: AbortSignal;
  /** Called when the agent begins its response. */
  onOpen?: () => void;
  onEvent: (event: StreamResponse) => 'more' | 'enough';
}

export interface Endpoint {
  url: string;
  /** The URL of the card, if it is not at `url`. */
  cardUrl?: string | undefined;
  /** E.g. `authorization`. */
  headers: Readonly<Record<string, string>>;
  /** Overrides the dialect that the card implies. */
  dialect?: DialectName | undefined;
  /** True if the process behind the URL has ended. Another program may then listen on its port. */
  isGone?: () => boolean;
}

/**
 * The time limit in milliseconds for a request with one response. For a resumable stream, the time until the first
 * byte.
 */
const ANSWER_TIMEOUT_MS = 20_000;
/** The longest allowed silence of a resumable stream, in milliseconds. Heartbeats come more often than this. */
const SILENCE_MS = 60_000;
/**
 * The same limit for other streams, in milliseconds. An agent may send nothing for a long time. After this limit the
 * bridge fetches the task and opens its stream again.
 */
const QUIET_MS = 15 * 60_000;
/** The polling interval in milliseconds, for agents without streams. */
const POLL_MS = 2_000;
/**
 * For agents without streams. By default such an agent responds only when the task has ended or waits (A2A 1.0 §3.2.2).
 * Until then the bridge would not know whether the message has arrived. So the bridge asks for an immediate response.
 */
const RETURN_IMMEDIATELY = {
  acceptedOutputModes: [],
  taskPushNotificationConfig: undefined,
  returnImmediately: true,
};
/**
 * The number of history messages that the bridge fetches. Agents without an extension keep pending calls in the
 * history.
 */
const WHOLE_TURN = 100;
/** Some agents list only task ids. For such an agent, the bridge fetches this number of whole tasks. */
const LOOKED_INTO = 20;

/** @throws any error of the request for the card. `Agent.failed` turns it into a ProductError. */
export async function connectToAgent(endpoint: Endpoint): Promise<A2aConnection> {
  const origin = new URL(endpoint.url).origin;
  const { headers: credentials, isGone } = endpoint;
  const peer = { origin, headers: credentials, ...(isGone && { isGone }) };
  const plainFetch = agentFetch(peer);
  const { card, facts } = await fetchCard(endpoint.cardUrl ?? endpoint.url, (input, init) =>
    plainFetch(input, { ...init, signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) }),
  );
  const resumable = resumableUrl(facts);
  const dialect = chooseDialect(
    { name: facts.name, extensions: facts.extensions.map((each) => each.uri) },
    endpoint.dialect,
  );
  const fetchImpl = agentFetch({
    ...peer,
    ownSockets: dialect.hazards.socketEndAborts,
    ...(resumable === null
      ? { quiet: true, patience: { beginningMs: QUIET_MS, silenceMs: QUIET_MS } }
      : { patience: { beginningMs: ANSWER_TIMEOUT_MS, silenceMs: SILENCE_MS } }),
  });
  const options = { fetchImpl, legacyCompat: { enabled: true } };
  const client = await new ClientFactory({
    // A2A 1.0 §8.3.2: a client uses the first interface of the card that it supports. So the bridge has no preferred
    // transport.
    transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
  }).createFromAgentCard(card);
  const extensions = [TOOL_APPROVAL, RESUMABLE_STREAM, AGENT_COMMAND].filter((uri) =>
    declaresExtension(facts, uri),
  );
  const serviceParameters: Record<string, string> =
    extensions.length === 0 ? {} : { [HTTP_EXTENSION_HEADER]: Extensions.toServiceParameter(extensions) };
  const once = () => ({ serviceParameters, signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });

  const get = (url: URL): Promise<Response> =>
    fetchImpl(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });

  /** Sends a request to an endpoint that is not part of A2A. Null if the agent does not have the endpoint. */
  async function askEndpoint<T>(
    schema: { parse: (answer: unknown) => T },
    path: string,
    parameters: Readonly<Record<string, string>>,
  ): Promise<T | null> {
    if (!declaresExtension(facts, TOOL_APPROVAL)) return null;
    const url = new URL(path, endpoint.url);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    try {
      return schema.parse(await (await get(url)).json());
    } catch (error) {
      // Another server may implement the extension without this endpoint.
      if (error instanceof HttpFailure && error.status === 404) return null;
      throw error;
    }
  }

  const taskOf = (id: string): Promise<Task> =>
    client.getTask({ tenant: '', id, historyLength: WHOLE_TURN }, once());

  /**
   * For agents without a cursor. The first event is the current task, which includes the missed events. For an agent
   * without streams, each change of the task is an event.
   */
  async function* currentThenNext(
    id: string,
    signal: AbortSignal,
    onOpen: () => void,
  ): AsyncIterable<StreamResponse> {
    let now = await taskOf(id);
    onOpen();
    yield asStreamResponse(now);
    if (facts.streaming) yield* client.resubscribeTask({ tenant: '', id }, { serviceParameters, signal });
    else
      while (isMoving(now)) {
        await delay(POLL_MS, undefined, { signal });
        const before = now;
        now = await taskOf(id);
        if (!isDeepStrictEqual(before, now)) yield asStreamResponse(now);
      }
  }

  return {
    url: endpoint.url,
    facts,
    dialect,
    deduplicates: declaresExtension(facts, RESUMABLE_STREAM),
    staysOpen: resumable !== null,
    send: (message, signal) =>
      client.sendMessageStream(
        {
          tenant: '',
          message,
          configuration: facts.streaming ? undefined : RETURN_IMMEDIATELY,
          metadata: undefined,
        },
        { serviceParameters, signal },
      ),
    async follow({ taskId, after, signal, onOpen = () => undefined, onEvent }) {
      const headers = { ...serviceParameters, [A2A_VERSION_HEADER]: A2A_PROTOCOL_VERSION };
      const events =
        resumable === null
          ? currentThenNext(taskId, signal, onOpen)
          : resumableEvents({
              url: `${resumable}/tasks/${encodeURIComponent(taskId)}:subscribe`,
              headers,
              after,
              fetch: fetchImpl,
              signal,
              onOpen,
            });
      for await (const event of events) if (onEvent(event) === 'enough') return;
    },
    task: taskOf,
    cancel: (id, { reason, channel }) =>
      client.cancelTask({ tenant: '', id, metadata: { reason, channel } }, once()),
    async list(query, limit) {
      const { sessionId = '', state } = query;
      if (dialect.name === 'gemini') {
        const all = await geminiTasks(endpoint.url, get);
        if (all === null) return null;
        const matching = tasksInState(all, state).filter(
          ({ contextId }) => sessionId === '' || contextId === sessionId,
        );
        const wanted = matching.slice(0, limit);
        // The list omits pending calls. Only the whole task contains them.
        const whole = wanted.slice(0, LOOKED_INTO).map(({ id }) => taskOf(id));
        const tasks = [...(await Promise.all(whole)), ...wanted.slice(LOOKED_INTO)];
        return { tasks, total: matching.length };
      }
      if (client.protocolVersion.startsWith('0.')) return null;
      return listTasks((params) => client.listTasks(params, once()), query, limit);
    },
    findByPrefix: (prefix) => askEndpoint(taskSearchResultSchema, '/api/tasks', { prefix }),
    costs: (days) => askEndpoint(costReportSchema, '/api/costs', { days: String(days) }),
    async commands() {
      if (dialect.name === 'gemini') return geminiCommands(endpoint.url, get);
      if (!declaresExtension(facts, AGENT_COMMAND)) return null;
      const response = await get(new URL('/api/commands', endpoint.url));
      return commandListSchema.parse(await response.json()).commands;
    },
    execute: async (command) =>
      dialect.name === 'gemini' ? executeGeminiCommand(endpoint.url, command, fetchImpl) : null,
    async abortTool(toolId, reason) {
      if (!declaresExtension(facts, TOOL_APPROVAL)) return null;
      const response = await fetchImpl(
        new URL(`/api/tools/abort/${encodeURIComponent(toolId)}`, endpoint.url),
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'application/json' },
          body: JSON.stringify({ reason }),
          signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
        },
      );
      return abortAnswerSchema.parse(await response.json());
    },
    async pageLink(target) {
      if (!declaresExtension(facts, TOOL_APPROVAL)) return null;
      return makePageLink(target, {
        url: endpoint.url,
        origins: facts.interfaces.map(({ url }) => url),
        fetch: fetchImpl,
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
    },
  };
}

/** False for a task that has ended or waits. */
function isMoving({ status }: Task): boolean {
  return status?.state === TaskState.TASK_STATE_SUBMITTED || status?.state === TaskState.TASK_STATE_WORKING;
}
