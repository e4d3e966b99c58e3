/** Finds out what an agent can do: from its card, and by requests about a task that does not exist. Starts no task. */
import { randomUUID } from 'node:crypto';
import type { ProductError } from '../../shared/runtime/errors.ts';
import { FILE_MEDIA_TYPES } from '../../shared/protocol/attached-file.ts';
import type { Agent } from './agent.ts';
import type { A2aConnection } from './connection.ts';
import { acceptsMediaType } from './input-modes.ts';
import { withTimeout } from './timeout.ts';

/** `unknown` means that the agent's answer shows neither `yes` nor `no`. */
type YesNoOrUnknown = 'yes' | 'no' | 'unknown';

export interface AgentAbilities {
  /** The A2A versions and transports that the agent card lists, such as `1.0 JSONRPC`. */
  interfaces: readonly string[];
  dialect: string;
  streaming: 'yes' | 'no';
  /**
   * What the agent sends after the bridge reconnects to a broken stream. `replay`: each missed event. `current-state`:
   * the current task.
   */
  resumption: 'replay' | 'current-state';
  cancel: YesNoOrUnknown;
  list: YesNoOrUnknown;
  /** The media types that the bridge can send and the agent accepts in messages. */
  files: readonly string[];
  /** How the agent asks before a risky action: with a preview of the action, or with a question in text. */
  approvals: 'previews' | 'questions';
  /**
   * What the agent does with a message that it receives twice. `recognized`: it starts one task. `unknown`: it may
   * start two tasks. So the bridge does not send a message again if the message may have arrived.
   */
  duplicates: 'recognized' | 'unknown';
}

const TIMEOUT_MS = 10_000;
const SENT_MEDIA_TYPES = ['text/plain', ...FILE_MEDIA_TYPES];

/**
 * Finds out what the agent can do.
 * @throws ProductError if the agent cannot be reached or its card cannot be used
 */
export async function probeAgentAbilities(agent: Agent): Promise<AgentAbilities> {
  const connection = await agent.connect();
  const { facts, dialect, deduplicates, staysOpen } = connection;
  const [cancel, list] = await Promise.all([canCancel(agent, connection), canList(agent, connection)]);
  const interfaces = facts.interfaces.map((each) => `${each.protocolVersion} ${each.binding}`);
  return {
    interfaces: [...new Set(interfaces)],
    dialect: dialect.name,
    streaming: facts.streaming ? 'yes' : 'no',
    resumption: staysOpen ? 'replay' : 'current-state',
    cancel,
    list,
    files: SENT_MEDIA_TYPES.filter((type) => acceptsMediaType(facts.inputModes, type)),
    approvals: dialect.name === 'plain' ? 'questions' : 'previews',
    duplicates: deduplicates ? 'recognized' : 'unknown',
  };
}

/**
 * Asks the agent to cancel a task that does not exist. An agent that can cancel tasks answers that it has no such task.
 */
async function canCancel(agent: Agent, connection: A2aConnection): Promise<YesNoOrUnknown> {
  const by = { reason: 'The bridge checks whether tasks can be cancelled.', channel: 'cli' } as const;
  try {
    await withTimeout(TIMEOUT_MS, connection.cancel(randomUUID(), by));
    return 'unknown';
  } catch (thrown) {
    const error = agent.failed(thrown);
    return error.reason === 'UNKNOWN_TASK' ? 'yes' : refusedMethod(error);
  }
}

async function canList(agent: Agent, connection: A2aConnection): Promise<YesNoOrUnknown> {
  try {
    return (await withTimeout(TIMEOUT_MS, connection.list({}, 1))) === null ? 'no' : 'yes';
  } catch (thrown) {
    return refusedMethod(agent.failed(thrown));
  }
}

/**
 * Returns `no` if the error says that the agent does not have the method. Agents say this in different words. Other
 * errors prove nothing.
 */
function refusedMethod({ message }: ProductError): 'no' | 'unknown' {
  return /unsupported|not supported|not implemented|method not found/i.test(message) ? 'no' : 'unknown';
}
