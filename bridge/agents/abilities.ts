/** Finds out what an agent can do: from its card, and by requests about a task that does not exist. Starts no task. */
import { randomUUID } from 'node:crypto';
import type { ProductError } from '../../shared/runtime/errors.ts';
import { FILE_TYPES } from '../../shared/protocol/attached-file.ts';
import type { Agent } from './agent.ts';
import type { A2aConnection } from './connection.ts';
import { acceptsMediaType } from './input-modes.ts';
import { withTimeout } from './timeout.ts';

/** `unknown`: the agent's answer shows neither. */
type Answered = 'yes' | 'no' | 'unknown';

export interface AgentAbilities {
  /** The A2A versions and transports on the card, such as `1.0 JSONRPC`. */
  interfaces: readonly string[];
  dialect: string;
  streaming: 'yes' | 'no';
  /** How the bridge continues after a broken stream. `replay`: with each missed event. `current-state`: with the task. */
  resumption: 'replay' | 'current-state';
  cancel: Answered;
  list: Answered;
  /** Which of the media types that the bridge sends as files the agent accepts. Text is among them. */
  files: readonly string[];
  /** How the agent asks before a risky action. */
  approvals: 'previews' | 'questions';
  /** `recognized`: the same message sent twice starts one task. `unknown`: so the bridge never sends it twice. */
  duplicates: 'recognized' | 'unknown';
}

const TIMEOUT_MS = 10_000;
const TYPES = ['text/plain', ...FILE_TYPES];

/** @throws ProductError if the agent cannot be reached or its card cannot be used */
export async function agentAbilities(agent: Agent): Promise<AgentAbilities> {
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
    files: TYPES.filter((type) => acceptsMediaType(facts.inputModes, type)),
    approvals: dialect.name === 'plain' ? 'questions' : 'previews',
    duplicates: deduplicates ? 'recognized' : 'unknown',
  };
}

/** An agent that can cancel says that the task does not exist. */
async function canCancel(agent: Agent, connection: A2aConnection): Promise<Answered> {
  const by = { reason: 'The bridge checks whether tasks can be cancelled.', channel: 'cli' } as const;
  try {
    await withTimeout(TIMEOUT_MS, connection.cancel(randomUUID(), by));
    return 'unknown';
  } catch (thrown) {
    const error = agent.failed(thrown);
    return error.reason === 'UNKNOWN_TASK' ? 'yes' : refusedMethod(error);
  }
}

async function canList(agent: Agent, connection: A2aConnection): Promise<Answered> {
  try {
    return (await withTimeout(TIMEOUT_MS, connection.list({}, 1))) === null ? 'no' : 'yes';
  } catch (thrown) {
    return refusedMethod(agent.failed(thrown));
  }
}

/** Agents say in many ways that they lack a method. Other errors prove nothing. */
function refusedMethod({ message }: ProductError): 'no' | 'unknown' {
  return /unsupported|not supported|not implemented|method not found/i.test(message) ? 'no' : 'unknown';
}
