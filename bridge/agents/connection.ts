/** Connects to one agent: reads its card, chooses the transport and the dialect, and sends requests. */
import type { KeyObject } from 'node:crypto';
import { Extensions, HTTP_EXTENSION_HEADER, A2A_PROTOCOL_VERSION, A2A_VERSION_HEADER } from '@a2a-js/sdk';
import type { Message, StreamResponse, Task } from '@a2a-js/sdk';
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { AGENT_COMMAND_EXTENSION, commandListSchema } from '../../shared/protocol/agent-command.ts';
import type { CommandCall, OfferedCommand } from '../../shared/protocol/agent-command.ts';
import { THINKING_EXTENSION } from '../../shared/protocol/extensions.ts';
import { RESUMABLE_STREAM_EXTENSION } from '../../shared/protocol/resumable-stream-extension.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../shared/protocol/tool-approval.ts';
import { chooseDialect } from '../dialects/choose-dialect.ts';
import type { Dialect, DialectName } from '../dialects/dialect.ts';
import { createAgentFetch } from './http/agent-fetch.ts';
import { type AgentCardFacts, declaresExtension, fetchAgentCard, resumableStreamUrl } from './card.ts';
import { losesChunks, readableEvents, withoutStreaming } from './sdk-workarounds.ts';
import { refuseErrorResponse } from './http/rest-refusal.ts';
import { followWithoutCursors } from './follow-without-cursors.ts';
import { listTasksOfAgent, type ListedTasks, type TaskQuery } from './list-tasks.ts';
import { readResumableEvents } from './read-events-after-cursor.ts';
import { executeGeminiCommand, fetchGeminiCommands, type GeminiCommandAnswer } from './gemini-commands.ts';
import { listGeminiTasks, selectGeminiTasks } from './gemini-tasks.ts';
import { createA2aServerRequests, type A2aServerRequests } from './a2a-server-requests.ts';

export interface A2aConnection extends A2aServerRequests {
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
  /** Lists the commands that the agent offers. Null if it does not declare the extension for commands. */
  commands(): Promise<readonly OfferedCommand[] | null>;
  /** Runs a command outside of a task. Null if the agent does not run commands in this way. */
  execute(command: CommandCall): Promise<GeminiCommandAnswer | null>;
}

/** Who cancels a task, and why. The agent records both. */
export interface CancelDetails {
  reason: string;
  channel: 'mcp' | 'cli';
}

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
 * The time limit in milliseconds. For a request with one response, the whole response must arrive in this time. For a
 * resumable stream, the response headers must arrive in this time.
 */
const ANSWER_TIMEOUT_MS = 20_000;
const timeoutSignal = (): AbortSignal => AbortSignal.timeout(ANSWER_TIMEOUT_MS);

/** The maximum times without data on a resumable stream. The agent sends heartbeats more often. */
const TIMEOUTS_WITH_HEARTBEATS = { beginningMs: ANSWER_TIMEOUT_MS, silenceMs: 60_000 };
/**
 * The maximum times without data on other streams. Their agents may work for minutes without sending anything. After
 * this time, the bridge fetches the task and opens the stream again.
 */
const TIMEOUTS_WITHOUT_HEARTBEATS = { beginningMs: 15 * 60_000, silenceMs: 15 * 60_000 };
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
 * The number of history messages that the bridge fetches with a task. For agents without the tool-approval extension,
 * these messages contain the pending calls.
 */
const HISTORY_MESSAGES = 100;

/**
 * Reads the agent's card, chooses the transport and the dialect, and returns the connection.
 * @throws any error of the request for the card. `Agent.failed` converts it to a ProductError.
 */
export async function connectToAgent(endpoint: ConnectOptions): Promise<A2aConnection> {
  const origin = new URL(endpoint.url).origin;
  const { headers: credentials, isGone } = endpoint;
  const peer = { origin, headers: credentials, ...(isGone && { isGone }) };
  const plainFetch = createAgentFetch(peer);
  const { card, facts: declared } = await fetchAgentCard(
    endpoint.cardUrl ?? endpoint.url,
    (input, init) => plainFetch(input, { ...init, signal: timeoutSignal() }),
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
    timeouts: resumable === null ? TIMEOUTS_WITHOUT_HEARTBEATS : TIMEOUTS_WITH_HEARTBEATS,
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
  const once = () => ({ serviceParameters, signal: timeoutSignal() });
  const get = async (url: URL): Promise<Response> =>
    refuseErrorResponse(await fetchImpl(url, { signal: timeoutSignal() }));
  const taskOf = (id: string): Promise<Task> =>
    client.getTask({ tenant: '', id, historyLength: HISTORY_MESSAGES }, once());

  return {
    ...createA2aServerRequests({ url: endpoint.url, facts, fetch: fetchImpl, timeoutSignal }),
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
          ? followWithoutCursors({
              fetchTask: () => taskOf(taskId),
              subscribe: facts.streaming
                ? () => client.resubscribeTask({ tenant: '', id: taskId }, { serviceParameters, signal })
                : undefined,
              signal,
              onOpen,
            })
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
      if (dialect.name === 'gemini') {
        const all = await listGeminiTasks(endpoint.url, get);
        return all === null ? null : selectGeminiTasks(all, { query, fetchTask: taskOf, limit });
      }
      if (client.protocolVersion.startsWith('0.')) return null;
      return listTasksOfAgent((params) => client.listTasks(params, once()), query, limit);
    },
    async commands() {
      if (dialect.name === 'gemini') return fetchGeminiCommands(endpoint.url, get);
      if (!declaresExtension(facts, AGENT_COMMAND_EXTENSION)) return null;
      const response = await get(new URL('/api/commands', endpoint.url));
      return commandListSchema.parse(await response.json()).commands;
    },
    execute: async (command) =>
      dialect.name === 'gemini' ? executeGeminiCommand(endpoint.url, command, fetchImpl) : null,
  };
}

/** Returns the request header that activates these extensions. */
function parametersFor(extensions: readonly string[]): Record<string, string> {
  return extensions.length === 0
    ? {}
    : { [HTTP_EXTENSION_HEADER]: Extensions.toServiceParameter([...extensions]) };
}
