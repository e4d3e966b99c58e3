/**
 * Starts agents, bridges and clients for one test. After the test, they end in reverse order. What a `beforeAll` starts
 * ends after the file.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanUpAfterFile, cleanUpLater } from '../../../support/clean-up.ts';
import { FakeAgent, type FakeAgentOptions, type FakeAgentReactions } from '../../../support/fake-agent.ts';
import { type BridgeStart, builtBridge } from './bridge-program.ts';
import { type HttpBridge, startHttpBridge } from './http-bridge.ts';
import { RawClient } from './raw-client.ts';

export const DELEGATE = 'delegate_task_to_assistant';
export const DECIDE = 'approve_or_deny_pending_action';
export const WAIT = 'wait_for_task';
export const CHECK = 'check_task_progress_and_status';
export const CANCEL = 'cancel_running_task';
export const LIST = 'list_all_active_sessions';

/** The decision that approves `pendingWrite('one')`. */
export const APPROVE_ONE = { callId: 'one', shown: 'hash-of-one', decision: 'approve' } as const;

/** In these tests a program answers forms. So the bridge must accept fast answers. */
export const FAST_ANSWERS = ['--fastest-answer-seconds', '0'];

export const program = await builtBridge();

cleanUpAfterFile(() => program.remove());

export const closeAfterTest = cleanUpLater;

/** Creates a new state directory. The end of the test file removes it. */
export function stateDirectory(): Promise<string> {
  return mkdtemp(join(program.directory, 'state-'));
}

export async function startAgent(options: FakeAgentOptions = {}): Promise<FakeAgent> {
  const agent = await FakeAgent.start(options);
  closeAfterTest(() => agent.stop());
  return agent;
}

/** The address of a bridge's agent. Without a URL, the bridge uses the agents of its settings. */
export interface AgentAddress {
  url?: string | undefined;
  token?: string | undefined;
}

/** Returns the options of a bridge for this agent. The state directory is new, unless `start` names one. */
export async function bridgeStart(
  { url, token }: AgentAddress,
  start: Partial<BridgeStart> = {},
): Promise<BridgeStart> {
  return {
    stateDir: start.stateDir ?? (await stateDirectory()),
    ...(url === undefined ? {} : { agentUrl: url }),
    ...(token === undefined ? {} : { token }),
    ...start,
  };
}

export async function startClient(agent: AgentAddress, start?: Partial<BridgeStart>): Promise<RawClient> {
  const client = await RawClient.start(program, await bridgeStart(agent, start));
  closeAfterTest(() => client.kill());
  return client;
}

/**
 * Starts an agent, and a bridge to it with a new state directory.
 * @param start options of this bridge and the next ones
 */
export async function onOwnBridge(options: FakeAgentOptions = {}, start: Partial<BridgeStart> = {}) {
  const stateDir = await stateDirectory();
  const agent = await startAgent(options);
  /** Starts another bridge of the same user. */
  const again = (): Promise<RawClient> => startClient(agent, { ...start, stateDir });
  return { stateDir, agent, again, client: await again() };
}

/**
 * Shares a bridge and its agent between tests that neither configure nor end them. A bridge takes longer to start than
 * to test. The agent reacts as the current test says, and has forgotten the tasks of earlier tests. Its tasks and
 * sessions have new ids.
 * @param connect starts the bridge of an agent
 */
export function shared<Bridge>(
  connect: (agent: FakeAgent) => Promise<Bridge>,
  close: (bridge: Bridge) => unknown,
): (reactions?: FakeAgentReactions) => Promise<{ agent: FakeAgent; bridge: Bridge }> {
  let started: Promise<{ agent: FakeAgent; bridge: Bridge }> | undefined;
  const start = async (): Promise<{ agent: FakeAgent; bridge: Bridge }> => {
    const agent = await FakeAgent.start();
    cleanUpAfterFile(() => agent.stop());
    const bridge = await connect(agent);
    cleanUpAfterFile(() => close(bridge));
    return { agent, bridge };
  };
  return async (reactions = {}) => {
    started ??= start();
    const both = await started;
    both.agent.become(reactions);
    return both;
  };
}

/** Like `startClient`, but the tests share the bridge. */
export function sharedClient(start?: Partial<BridgeStart>): ReturnType<typeof shared<RawClient>> {
  const onBridge = shared(
    async (agent) => RawClient.start(program, await bridgeStart(agent, start)),
    (client) => client.kill(),
  );
  return async (reactions) => {
    const both = await onBridge(reactions);
    both.bridge.notifications.length = 0;
    return both;
  };
}

export async function startHttp(
  agent: AgentAddress,
  start: Partial<BridgeStart> & { port?: number } = {},
): Promise<HttpBridge> {
  const { port } = start;
  const bridge = await startHttpBridge(program, {
    ...(await bridgeStart(agent, start)),
    ...(port === undefined ? {} : { port }),
  });
  closeAfterTest(() => bridge.kill());
  return bridge;
}

/** Closes an SDK client after the test. Ignores the error of a connection that is already closed. */
export function closing<Client extends { close: () => Promise<unknown> }>(client: Client): Client {
  closeAfterTest(() => client.close().catch(() => undefined));
  return client;
}
