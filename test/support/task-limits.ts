/** Limits of a task service in tests: the default numbers, and no limit of time. */
import type { TimeLimits } from '../../a2a-server/executor/abort-scopes/time-limits.ts';
import { DEFAULT_TASK_LIMIT, LIMITS, type Limits } from '../../a2a-server/limits/limits.ts';
import type { ExpirySettings } from '../../a2a-server/task/expiry.ts';

export const DEFAULT_LIMITS: Limits = { ...LIMITS, task: DEFAULT_TASK_LIMIT };
export const NO_TIME_LIMITS: TimeLimits = { toolMs: null, modelMs: null, turnMs: null, taskMs: null };
export const NO_EXPIRY: ExpirySettings = { decisionMs: null, idleMs: null };
