/** Limits of a task service in tests: the default numbers, and no limit of time. Also its parts that few tests need. */
import { createAgentCommands } from '../../a2a-server/agent-commands/agent-commands.ts';
import type { TimeLimits } from '../../a2a-server/executor/abort-scopes/time-limits.ts';
import { FairExecutionSlots } from '../../a2a-server/limits/fair-execution-slots.ts';
import { DEFAULT_TASK_LIMIT, LIMITS, type Limits } from '../../a2a-server/limits/limits.ts';
import { NO_CHILD_RECORDS } from '../../a2a-server/processes/child-process-records.ts';
import type { ExpirySettings } from '../../a2a-server/task/expiry.ts';

export const DEFAULT_LIMITS: Limits = { ...LIMITS, task: DEFAULT_TASK_LIMIT };
export const NO_TIME_LIMITS: TimeLimits = { toolMs: null, modelMs: null, turnMs: null, taskMs: null };
export const NO_EXPIRY: ExpirySettings = { decisionMs: null, idleMs: null };

/** The parts of a task service without commands, passkeys and orphaned processes, and with the default slots. */
export function plainServiceParts() {
  return {
    commands: createAgentCommands([]),
    presence: { prove: unused, address: () => '' },
    onRefused: () => undefined,
    slots: new FairExecutionSlots({ limits: () => LIMITS }),
    children: NO_CHILD_RECORDS,
  };
}

const unused = (): Promise<never> => Promise.reject(new Error('this service has no passkeys'));
