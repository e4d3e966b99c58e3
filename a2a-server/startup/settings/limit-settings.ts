import { z } from 'zod';
import { defineSetting, type SettingValues } from '../../../shared/settings/resolve-settings.ts';
import { type CountsByScope, type Limits, LIMITS, DEFAULT_TASK_LIMIT } from '../../limits/limits.ts';
import { durationSchema, DURATION_ALLOWED } from '../../../shared/settings/duration.ts';

function limit(env: string, fallback: string, describe: string) {
  return defineSetting({
    kind: 'text',
    placeholder: 'time',
    schema: durationSchema,
    fallback,
    env,
    describe: `${describe} (never: no limit)`,
    allowed: DURATION_ALLOWED,
  });
}

const wholeNumber = z.number().int().min(1);
const optionalWholeNumber = wholeNumber.optional();

const REFUSED = 'at a time; the server refuses more';
const QUEUED = 'at a time; others wait for their turn';
const FAILS = 'then the task fails, and its session can continue';
const DAILY =
  'on one day (UTC); then the server refuses messages, and a running task waits for a reply on the next day';

/** Declares a limit. @param rule the end of the sentence "How many …" */
function cap(env: string, fallback: number, rule: string) {
  return defineSetting({
    kind: 'number',
    schema: wholeNumber,
    fallback,
    env,
    describe: `how many ${rule} (docs/limits.md)`,
    allowed: 'a whole number from 1',
  });
}

/** Declares a limit on all principals of one tenant together. */
function tenantCap(env: string, rule: string) {
  return defineSetting({
    kind: 'number',
    schema: optionalWholeNumber,
    fallback: undefined,
    env,
    describe: `how many ${rule} (default: only the limit of the server; docs/limits.md)`,
    allowed: 'a whole number from 1',
  });
}

function budget(env: string, fallback: number | undefined, what: string) {
  return defineSetting({
    kind: 'number',
    schema: optionalWholeNumber,
    fallback,
    env,
    describe: `how many ${what} a task may use before it asks a person whether to continue${fallback === undefined ? ' (default: no limit)' : ''}`,
    allowed: 'a whole number from 1',
  });
}

/** The limits in `limits.ts`. A running server can change them. */
export const COUNT_LIMIT_SETTINGS = {
  maxRequests: cap(
    'A2A_SERVER_MAX_REQUESTS',
    LIMITS.requests.principal,
    `${LIMITS.requests.what} a principal may have ${REFUSED}`,
  ),
  maxRequestsPerTenant: tenantCap(
    'A2A_SERVER_MAX_REQUESTS_PER_TENANT',
    `${LIMITS.requests.what} all principals of one tenant together may have ${REFUSED}`,
  ),
  maxRequestsInAll: cap(
    'A2A_SERVER_MAX_REQUESTS_IN_ALL',
    LIMITS.requests.server,
    `${LIMITS.requests.what} this server may have ${REFUSED}`,
  ),
  maxStreams: cap(
    'A2A_SERVER_MAX_STREAMS',
    LIMITS.streams.principal,
    `${LIMITS.streams.what} a principal may have ${REFUSED}`,
  ),
  maxStreamsPerTenant: tenantCap(
    'A2A_SERVER_MAX_STREAMS_PER_TENANT',
    `${LIMITS.streams.what} all principals of one tenant together may have ${REFUSED}`,
  ),
  maxStreamsInAll: cap(
    'A2A_SERVER_MAX_STREAMS_IN_ALL',
    LIMITS.streams.server,
    `${LIMITS.streams.what} this server may have ${REFUSED}`,
  ),
  maxTasks: cap(
    'A2A_SERVER_MAX_TASKS',
    LIMITS.executions.principal,
    `tasks of a principal may run ${QUEUED}`,
  ),
  maxTasksPerTenant: tenantCap(
    'A2A_SERVER_MAX_TASKS_PER_TENANT',
    `tasks all principals of one tenant together may run ${QUEUED}`,
  ),
  maxTasksInAll: cap(
    'A2A_SERVER_MAX_TASKS_IN_ALL',
    LIMITS.executions.server,
    `tasks may run on this server ${QUEUED}`,
  ),
  maxQueuedTasks: cap(
    'A2A_SERVER_MAX_QUEUED_TASKS',
    LIMITS.queuedTasks.principal,
    `tasks of a principal may wait for their turn ${REFUSED}`,
  ),
  maxQueuedTasksPerTenant: tenantCap(
    'A2A_SERVER_MAX_QUEUED_TASKS_PER_TENANT',
    `tasks of one tenant may wait for their turn ${REFUSED}`,
  ),
  maxQueuedTasksInAll: cap(
    'A2A_SERVER_MAX_QUEUED_TASKS_IN_ALL',
    LIMITS.queuedTasks.server,
    `tasks may wait for their turn on this server ${REFUSED}`,
  ),
  maxTaskEvents: cap(
    'A2A_SERVER_MAX_TASK_EVENTS',
    DEFAULT_TASK_LIMIT.events,
    `events one task may write; ${FAILS}`,
  ),
  maxTaskMegabytes: cap(
    'A2A_SERVER_MAX_TASK_MEGABYTES',
    DEFAULT_TASK_LIMIT.megabytes,
    `megabytes of events one task may write; ${FAILS}`,
  ),
  maxDailyEvents: cap(
    'A2A_SERVER_MAX_DAILY_EVENTS',
    LIMITS.dailyEvents.principal,
    `events a principal may write ${DAILY}`,
  ),
  maxDailyEventsPerTenant: tenantCap(
    'A2A_SERVER_MAX_DAILY_EVENTS_PER_TENANT',
    `events all principals of one tenant together may write ${DAILY}`,
  ),
  maxDailyEventsInAll: cap(
    'A2A_SERVER_MAX_DAILY_EVENTS_IN_ALL',
    LIMITS.dailyEvents.server,
    `events all principals together may write ${DAILY}`,
  ),
  maxDailyMegabytes: cap(
    'A2A_SERVER_MAX_DAILY_MEGABYTES',
    LIMITS.dailyMegabytes.principal,
    `megabytes of events a principal may write ${DAILY}`,
  ),
  maxDailyMegabytesPerTenant: tenantCap(
    'A2A_SERVER_MAX_DAILY_MEGABYTES_PER_TENANT',
    `megabytes of events all principals of one tenant together may write ${DAILY}`,
  ),
  maxDailyMegabytesInAll: cap(
    'A2A_SERVER_MAX_DAILY_MEGABYTES_IN_ALL',
    LIMITS.dailyMegabytes.server,
    `megabytes of events all principals together may write ${DAILY}`,
  ),
} as const;

export const LIMIT_SETTINGS = {
  toolTimeout: limit(
    'A2A_SERVER_TOOL_TIMEOUT',
    '1h',
    'maximum time for one tool execution; then the server stops it',
  ),
  modelTimeout: limit(
    'A2A_SERVER_MODEL_TIMEOUT',
    '10m',
    'maximum time for one answer of the model; then the task fails, and its session can continue',
  ),
  turnTimeout: limit(
    'A2A_SERVER_TURN_TIMEOUT',
    'never',
    'maximum working time for one turn (an answer and its tool calls); then the server stops the rest of the turn',
  ),
  taskTimeout: limit(
    'A2A_SERVER_TASK_TIMEOUT',
    'never',
    'maximum working time for one task; then the task fails; waiting for a person does not count',
  ),
  grace: defineSetting({
    kind: 'text',
    placeholder: 'time',
    schema: durationSchema.pipe(z.number({ error: 'it must be finite, because a stopped tool must end' })),
    fallback: '5s',
    env: 'A2A_SERVER_GRACE',
    describe: 'how long a stopped tool may run before its processes are killed',
    allowed: 'a number with s, m, h or d, e.g. 5s',
  }),
  drain: defineSetting({
    kind: 'text',
    placeholder: 'time',
    schema: durationSchema.pipe(z.number({ error: 'it must be finite' })).optional(),
    fallback: undefined,
    env: 'A2A_SERVER_DRAIN',
    describe:
      'how long a server that is told to stop still accepts requests, while /readyz answers 503; for a server behind a load balancer (default: not at all)',
    allowed: 'a number with s, m, h or d, e.g. 5s',
  }),
  budgetTurns: budget('A2A_SERVER_BUDGET_TURNS', 200, 'turns of the model'),
  budgetToolCalls: budget('A2A_SERVER_BUDGET_TOOL_CALLS', undefined, 'tool calls'),
  budgetTokens: budget('A2A_SERVER_BUDGET_TOKENS', undefined, 'tokens, input and output together,'),
  budgetCost: defineSetting({
    kind: 'number',
    placeholder: 'dollars',
    schema: z.number().positive().optional(),
    fallback: undefined,
    env: 'A2A_SERVER_BUDGET_COST',
    describe:
      'how many US dollars a task may cost, by the known or configured prices, before it asks a person whether to continue (default: no limit)',
    allowed: 'a number above 0',
  }),
  budgetCostPerDay: defineSetting({
    kind: 'number',
    placeholder: 'dollars',
    schema: z.number().positive().optional(),
    fallback: undefined,
    env: 'A2A_SERVER_BUDGET_COST_PER_DAY',
    describe:
      'how many US dollars all tasks of a principal may cost on one day (UTC) before each asks a person whether to continue (default: no limit)',
    allowed: 'a number above 0',
  }),
  budgetTime: limit(
    'A2A_SERVER_BUDGET_TIME',
    'never',
    'working time after which a task asks a person whether to continue',
  ),
  ...COUNT_LIMIT_SETTINGS,
  decisionTimeout: defineSetting({
    kind: 'text',
    placeholder: 'time',
    schema: durationSchema,
    fallback: '7d',
    env: 'A2A_SERVER_DECISION_TIMEOUT',
    describe:
      'how long an action waits for a decision, or a question for an answer, before the server cancels the task (never: no limit)',
    allowed: DURATION_ALLOWED,
  }),
} as const;

export function limitsFromSettings(settings: SettingValues<typeof COUNT_LIMIT_SETTINGS>): Limits {
  const { maxRequests, maxRequestsPerTenant, maxRequestsInAll } = settings;
  const { maxStreams, maxStreamsPerTenant, maxStreamsInAll } = settings;
  const { maxTasks, maxTasksPerTenant, maxTasksInAll } = settings;
  const { maxQueuedTasks, maxQueuedTasksPerTenant, maxQueuedTasksInAll } = settings;
  const { maxDailyEvents, maxDailyEventsPerTenant, maxDailyEventsInAll } = settings;
  const { maxDailyMegabytes, maxDailyMegabytesPerTenant, maxDailyMegabytesInAll } = settings;
  return {
    requests: limitOf(maxRequests, maxRequestsPerTenant, maxRequestsInAll),
    streams: limitOf(maxStreams, maxStreamsPerTenant, maxStreamsInAll),
    executions: limitOf(maxTasks, maxTasksPerTenant, maxTasksInAll),
    queuedTasks: limitOf(maxQueuedTasks, maxQueuedTasksPerTenant, maxQueuedTasksInAll),
    dailyEvents: limitOf(maxDailyEvents, maxDailyEventsPerTenant, maxDailyEventsInAll),
    dailyMegabytes: limitOf(maxDailyMegabytes, maxDailyMegabytesPerTenant, maxDailyMegabytesInAll),
    task: { events: settings.maxTaskEvents, megabytes: settings.maxTaskMegabytes },
  };
}

function limitOf(principal: number, tenant: number | undefined, server: number): CountsByScope {
  return { principal, ...(tenant !== undefined && { tenant }), server };
}
