/** Runs the task service with an ACP agent. The journal is real, and the test agent is a real process. */
import { systemClock } from '../../../shared/runtime/clock.ts';
import { createAcpBackend } from '../../../a2a-server/startup/acp-backend.ts';
import type { AcpOptions } from '../../../a2a-server/models/acp/open-agent.ts';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { commandEnvironment } from '../../../a2a-server/tools/shell/command-environment.ts';
import type { AgentProgram } from '../../support/acp-agent/agent-program.ts';
import { steps } from '../../support/acp-agent/step.ts';
import { cleanUpLater } from '../../support/clean-up.ts';
import {
  ADA,
  decideUntilSettled,
  messageOf,
  sendUntilSettled,
  startTaskService,
  type RunningService,
  type ServiceOptions,
} from '../../support/task-service.ts';
import type { ClientMessage } from '../../../a2a-server/executor/messages/client-message.ts';

export interface Home {
  stateDir: string;
  workspace: string;
}

export interface AcpService extends Home {
  service: RunningService;
  /** Sends a message, and waits until the task has parked or ended. */
  send(incoming: ClientMessage): Promise<Snapshot>;
  /** Sends a message with the steps of the agent, and waits until the task has parked or ended. */
  play(...played: Parameters<typeof steps>): Promise<Snapshot>;
  /** Decides the first call that waits, and waits until the task has parked or ended. */
  decide(saw: Snapshot, decision?: Parameters<typeof decideUntilSettled>[2]): Promise<Snapshot>;
  /** Shuts down the tasks and their agents, as at the end of the process. */
  stop(): Promise<void>;
}

export async function startAcp(
  { command, args }: Pick<AgentProgram, 'command' | 'args'>,
  home?: Home,
  options: Partial<AcpOptions> = {},
  rules: Pick<ServiceOptions, 'policy' | 'presence' | 'clock'> = {},
): Promise<AcpService> {
  const worker = createAcpBackend({
    agent: { command, args },
    env: commandEnvironment(process.env),
    clock: systemClock,
    startMs: 30_000,
    graceMs: 500,
    idleMs: null,
    gatherMs: 50,
    ...options,
  });
  const service = await startTaskService({
    ...(home && { stateDir: home.stateDir, workspace: home.workspace }),
    ...rules,
    models: worker.models,
    tools: [...worker.tools],
    onEnded: worker.onEnded,
  });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= service.stop().then(() => worker.close()));
  cleanUpLater(stop);
  const { stateDir, workspace, tasks } = service;
  return {
    stateDir,
    workspace,
    service,
    stop,
    send: async (incoming) => sendUntilSettled(tasks, incoming),
    play: (...played) => sendUntilSettled(tasks, messageOf(steps(...played))),
    decide: (saw, decision) => decideUntilSettled(tasks, saw, decision),
  };
}

/** Returns the events in the task's journal, in order. */
export async function eventsOf({ service: { tasks } }: AcpService, taskId: string): Promise<TaskEvent[]> {
  const { seq } = await tasks.snapshot(taskId, { principal: ADA });
  const { signal } = new AbortController();
  const events: TaskEvent[] = [];
  for await (const entries of tasks.follow(taskId, 0, { until: 'ended', signal })) {
    events.push(...entries.map(({ event }) => event));
    if ((entries.at(-1)?.seq ?? 0) >= seq) break;
  }
  return events;
}

/** Waits for an event of the task. An earlier event also counts. */
export async function happens(
  { service: { tasks } }: AcpService,
  taskId: string,
  is: (event: TaskEvent) => boolean,
): Promise<TaskEvent> {
  const { signal } = new AbortController();
  for await (const entries of tasks.follow(taskId, 0, { until: 'ended', signal })) {
    const found = entries.find(({ event }) => is(event));
    if (found) return found.event;
  }
  throw new Error('it did not happen');
}

/** Returns the pending actions of a waiting task. */
export function pendingOf({ status }: Snapshot): readonly PendingAction[] {
  if (status.state !== 'input-required') throw new Error(`the task is not parked: ${JSON.stringify(status)}`);
  return status.pending;
}

/** Returns the texts of the task's turns. */
export function wordsOf({ exchanges }: Snapshot): string {
  return exchanges.flatMap((exchange) => (exchange.type === 'turn' ? [exchange.turn.text] : [])).join('');
}
