/** Starts an ACP agent in a task's workspace and opens or resumes its session. */
import { PROTOCOL_VERSION, type InitializeResponse } from '@agentclientprotocol/sdk';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { readPackageVersion } from '../../../shared/runtime/version.ts';
import type { ChildProcessRecords } from '../../processes/child-process-records.ts';
import type { TaskWithEarlierTasks } from '../../task/snapshot.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { AcpConnection, SignInNeededError } from './agent-connection.ts';
import { acpCommandText, type AcpAgentCommand } from './agent-program.ts';
import { LiveAcpAgent } from './live-agent.ts';

export interface AcpOptions {
  agent: AcpAgentCommand;
  env: Record<string, string>;
  clock: Clock;
  startMs: number;
  /** The time limit for the agent to stop after a cancel. */
  graceMs: number;
  /** An agent without use for this time is ended. If null, the agent runs as long as the server. */
  idleMs: number | null;
  /** The time after a permission request in which further requests belong to the same turn. */
  gatherMs: number;
  /** Records the agent's process, so that the next server can end it after a crash. */
  children?: ChildProcessRecords;
}

interface OpenedAgent {
  agent: LiveAcpAgent;
  sessionId: string;
  /** True if the agent resumed its session and knows the conversation. */
  remembers: boolean;
}

/** Returns the id of the agent's last session, or undefined. */
export function rememberedAcpSession({ task, earlier }: TaskWithEarlierTasks): string | undefined {
  return (
    task.agentSession ??
    earlier.findLast(({ agentSession }) => agentSession !== null)?.agentSession ??
    undefined
  );
}

/**
 * Starts the agent and opens its session. After a failure, the agent has ended.
 * @throws ProductError AGENT_ERROR, SignInNeededError
 */
export async function openAcpAgent(
  place: TaskWithEarlierTasks,
  options: AcpOptions,
  signal: AbortSignal,
): Promise<OpenedAgent> {
  signal.throwIfAborted();
  const { agent: command, clock, graceMs } = options;
  const connection = await AcpConnection.open(command, { ...options, cwd: place.workspace });
  const end = (): void => void connection.end();
  signal.addEventListener('abort', end, { once: true });
  try {
    const agent = await connection.initialize(PROTOCOL_VERSION, readPackageVersion());
    if (agent.protocolVersion !== PROTOCOL_VERSION)
      throw new ProductError(
        'AGENT_ERROR',
        `The agent ${acpCommandText(command)} speaks version ${agent.protocolVersion} of ACP; this server speaks ${PROTOCOL_VERSION}.`,
      );
    const opened = await openSession(connection, agent, place).catch((error: unknown) => {
      throw error instanceof SignInNeededError ? signInNeeded(command, agent, error) : error;
    });
    return { ...opened, agent: new LiveAcpAgent(connection, { clock, graceMs, workspace: place.workspace }) };
  } catch (error) {
    await connection.end();
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/**
 * Resumes or loads the known session, if the agent supports one of the two (ACP v1, session setup). Otherwise creates a
 * new session. `session/resume` is preferred to `session/load`, because `session/load` replays all earlier updates.
 */
async function openSession(
  connection: AcpConnection,
  { agentCapabilities }: InitializeResponse,
  place: TaskWithEarlierTasks,
): Promise<{ sessionId: string; remembers: boolean }> {
  const known = rememberedAcpSession(place);
  const how = agentCapabilities?.sessionCapabilities?.resume
    ? 'resume'
    : agentCapabilities?.loadSession
      ? 'load'
      : undefined;
  if (known !== undefined && how !== undefined && (await takenUp(connection, how, { known, place })))
    return { sessionId: known, remembers: true };
  return { sessionId: await connection.newSession(place.workspace), remembers: false };
}

/**
 * Resumes or loads a session. Returns false if the agent refuses, e.g. because it no longer has the session. The prompt
 * must then contain the conversation.
 */
async function takenUp(
  connection: AcpConnection,
  how: 'resume' | 'load',
  { known, place }: { known: string; place: TaskWithEarlierTasks },
): Promise<boolean> {
  try {
    await connection.takeUp(how, known, place.workspace);
    return true;
  } catch (error) {
    if (connection.closed || error instanceof SignInNeededError) throw error;
    return false;
  }
}

function signInNeeded(
  command: AcpAgentCommand,
  { authMethods = [] }: InitializeResponse,
  error: SignInNeededError,
): SignInNeededError {
  const ways = authMethods.map(({ name }) => oneLineExcerpt(name, 80)).join(', ');
  return new SignInNeededError(
    `The agent ${acpCommandText(command)} requires a sign-in (${oneLineExcerpt(errorMessageOf(error), 200)}).${ways === '' ? '' : ` It offers: ${ways}.`} Sign in with the agent's own program, as the user of this server. Or restart the server with --pass-env and the name of the agent's key variable. Then reply to continue.`,
    { cause: error },
  );
}
