/** Tests an A2A agent from outside: what it keeps and what it loses if connections, clients or processes break. */
import { z } from 'zod';
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import { createAgentFetch } from '../agents/http/agent-fetch.ts';
import { fetchAgentCard, type AgentCardFacts } from '../agents/card.ts';
import type { ConnectOptions } from '../agents/connection.ts';
import { redactSecrets } from '../agents/redaction.ts';
import { A2A_03 } from './a2a-03-wire.ts';
import { PROBE_CHECKS, failedOutcome, type ProbeCheckRow } from './checks.ts';
import {
  A2A_VERSIONS,
  type A2aVersion,
  JsonRpcClient,
  NoAnswerError,
  JsonRpcError,
} from './json-rpc-client.ts';
import { AgentUnderTest, type TaskRestState } from './agent-under-test.ts';

/** An agent to test, and the task that the probe gives it. */
export interface ProbeSubject {
  endpoint: ConnectOptions;
  /** The A2A version to test. If absent, the newest version on the agent's card is tested. */
  version?: A2aVersion | undefined;
  /** The text of a task. The agent should work on it for about a second, produce output meanwhile, and complete it. */
  text: string;
  /** Kills the agent's process without a warning, and starts it again. Absent if the probe cannot do that. */
  restart?: (() => Promise<void>) | undefined;
}

/** A JSON-RPC interface on the agent's card. */
export interface ProbedInterface {
  url: string;
  version: A2aVersion;
  /** The name and version of the agent, from its card. */
  agent: { name: string; version: string };
}

/** The results of the checks. */
export interface ProbeReport extends ProbedInterface {
  /**
   * The state that each task of the probe reaches at its end. With some agents it is `INPUT_REQUIRED`, because they
   * complete no task and wait for the next message.
   */
  restState: TaskRestState;
  /** The number of messages that the probe has sent. */
  messages: number;
  rows: readonly ProbeCheckRow[];
}

/** The maximum duration of a whole probe, in milliseconds. */
export const MAX_PROBE_MS = 5 * 60_000;
const CARD_TIMEOUT_MS = 20_000;

/**
 * Reads the card, and chooses the interface to test. Starts no task.
 * @throws ProductError AGENT_UNREACHABLE if there is no card, or if the card lists no JSON-RPC interface of this
 * version
 */
export async function readProbedInterface({ endpoint, version }: ProbeSubject): Promise<ProbedInterface> {
  const { url, cardUrl } = endpoint;
  const facts = await readCard(cardUrl ?? url, fetchOf(endpoint));
  const offered = jsonRpcInterfaces(facts);
  const found = offered.find((each) => version === undefined || each.version === version);
  if (found === undefined)
    throw unreachable(`The card of ${url} has no JSON-RPC interface of A2A ${version ?? '1.0 or 0.3'}.`);
  return { ...found, agent: { name: facts.name, version: facts.version } };
}

/**
 * Runs all checks, one after the other.
 * @throws ProductError AGENT_UNREACHABLE if the task neither completes nor waits for input. No check has run then.
 */
export async function runProbe(subject: ProbeSubject, target: ProbedInterface): Promise<ProbeReport> {
  const { endpoint, text, restart } = subject;
  const { url, version } = target;
  const signal = AbortSignal.timeout(MAX_PROBE_MS);
  const wire = version === '0.3' ? A2A_03 : undefined;
  const client = new JsonRpcClient({ url, version, wire, fetchImpl: fetchOf(endpoint), signal });
  const server = new AgentUnderTest({
    client,
    text,
    restart,
    signal,
  });
  const restState = await requireWorkingAgent(server, url);
  const rows: ProbeCheckRow[] = [];
  for (const { run, ...check } of PROBE_CHECKS) {
    const outcome = await run(server).catch((error: unknown) => {
      if (signal.aborted) return { verdict: 'not supported', note: 'not tested: no time left' } as const;
      if (error instanceof JsonRpcError || error instanceof NoAnswerError || error instanceof z.ZodError)
        return failedOutcome(`a valid request failed: ${wordsOf(error)}`);
      throw error;
    });
    // An agent may repeat the token of a request in its answer. So it is removed from the note.
    rows.push({
      ...check,
      verdict: outcome.verdict,
      note: redactSecrets(outcome.note, Object.values(endpoint.headers)),
    });
  }
  await server.cancelWaiting();
  return { ...target, restState, messages: server.messages, rows };
}

/**
 * Returns a `fetch` in which each request has a socket of its own. A restart of the agent may have closed a reused
 * socket, and the request would then fail.
 */
const fetchOf = ({ url, headers }: ConnectOptions): typeof fetch =>
  createAgentFetch({ origin: new URL(url).origin, headers, postSockets: 'single' });

async function readCard(url: string, fetchImpl: typeof fetch): Promise<AgentCardFacts> {
  try {
    const { facts } = await fetchAgentCard(url, (input, init) =>
      fetchImpl(input, { ...init, signal: AbortSignal.timeout(CARD_TIMEOUT_MS) }),
    );
    return facts;
  } catch (error) {
    throw unreachable(`There is no usable agent card at ${url} (${wordsOf(error)}).`);
  }
}

/**
 * Runs a first task, and returns the state that it reaches at its end. Throws if the checks cannot use this state.
 * Otherwise an agent that refuses everything, or starts no tasks, would pass half of the checks.
 */
async function requireWorkingAgent(server: AgentUnderTest, url: string): Promise<TaskRestState> {
  const { task, restState } = await server.runFirstTask().catch((error: unknown) => {
    throw unreachable(`${url} does not accept a message (${wordsOf(error)}).`);
  });
  if (restState !== undefined) return restState;
  const said = task.statusText === '' ? '' : ` The agent says: ${JSON.stringify(oneLine(task.statusText))}.`;
  throw unreachable(
    `The task ${JSON.stringify(server.text)} on ${url} is ${task.state}, not COMPLETED or INPUT_REQUIRED.${said} Choose another --text.`,
  );
}

/** Returns the JSON-RPC interfaces on the card, the newest A2A version first. */
function jsonRpcInterfaces({ interfaces }: AgentCardFacts): Pick<ProbedInterface, 'url' | 'version'>[] {
  return A2A_VERSIONS.flatMap((version) =>
    interfaces
      .filter(
        ({ binding, protocolVersion }) =>
          binding.toUpperCase() === 'JSONRPC' && protocolVersion.startsWith(version),
      )
      .map(({ url }) => ({ url, version })),
  );
}

const unreachable = (message: string): ProductError => new ProductError('AGENT_UNREACHABLE', message);

function wordsOf(error: unknown): string {
  const words = error instanceof z.ZodError ? z.prettifyError(error) : errorMessageOf(error);
  return oneLine(words);
}

function oneLine(words: string): string {
  return words.replaceAll(/\s+/g, ' ').slice(0, 200);
}
