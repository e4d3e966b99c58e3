/** Starts agents, bridges and clients for one test. After the test they end, the newest first. */
import { afterAll, afterEach } from '@jest/globals';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { FakeAgent, type FakeAgentOptions } from '../../../support/fake-agent.ts';
import { type BridgeStart, builtBridge } from './bridge-program.ts';
import { type HttpBridge, startHttpBridge } from './http-bridge.ts';
import { RawClient } from './raw-client.ts';

export const DELEGATE = 'delegate_task_to_assistant';
export const DECIDE = 'approve_or_deny_pending_action';
export const WAIT = 'wait_for_task';
export const CHECK = 'check_task_progress_and_status';
export const CANCEL = 'cancel_running_task';
export const LIST = 'list_all_active_sessions';

/** The approval of `pendingWrite('one')`. */
export const APPROVE_ONE = { callId: 'one', shown: 'hash-of-one', decision: 'approve' } as const;

/** A program answers forms in these tests. So the bridge must accept fast answers. */
export const FAST_ANSWERS = ['--fastest-answer-seconds', '0'];

export const program = await builtBridge();

const open: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});
afterAll(() => program.remove());

export function closeAfterTest(close: () => unknown): void {
  open.push(close);
}

/** Creates a new state directory. The end of the test file removes it. */
export function stateDirectory(): Promise<string> {
  return mkdtemp(join(program.directory, 'state-'));
}

export async function startAgent(options: FakeAgentOptions = {}): Promise<FakeAgent> {
  const agent = await FakeAgent.start(options);
  closeAfterTest(() => agent.stop());
  return agent;
}

/** The agent of a bridge. Without an URL, the bridge has the agents of its settings. */
export interface AgentAddress {
  url?: string | undefined;
  token?: string | undefined;
}

/** The options of a bridge for this agent, with a new state directory unless `start` names one. */
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

/** Closes a client of an SDK after the test. An error of a connection that is already closed does not matter. */
export function closing<Client extends { close: () => Promise<unknown> }>(client: Client): Client {
  closeAfterTest(() => client.close().catch(() => undefined));
  return client;
}
