import { z } from 'zod';
import { defineSetting, type SettingValues } from '../../../shared/settings/resolve-settings.ts';
import { type CountsByScope, type Limits, LIMITS, DEFAULT_TASK_LIMIT } from '../../limits/limits.ts';
import { durationSchema, defineDuration } from '../../runtime/duration.ts';

function defineTimeLimit(fallback: string, describe: string) {
  return defineDuration(fallback, `${describe} (never: no limit)`);
}

const wholeNumber = z.number().int().min(1);
const optionalWholeNumber = wholeNumber.optional();

const REFUSED = 'at a time; the server refuses more';
const QUEUED = 'at a time; others wait for their turn';
const FAILS = 'then the task fails, and its session can continue';
const DAILY =
  'on one day (UTC); then the server refuses messages, and a running task waits for a reply on the next day';

/** Declares a limit. @param rule the end of the sentence "How many …" */
function defineCountLimit(fallback: number, rule: string) {
  return defineSetting({
    kind: 'number',
    schema: wholeNumber,
    fallback,
    describe: `how many ${rule} (docs/limits.md)`,
    allowed: 'a whole number from 1',
  });
}

/** Declares a limit on all principals of one tenant together. */
function tenantCap(rule: string) {
  return defineSetting({
    kind: 'number',
    schema: optionalWholeNumber,
    describe: `how many ${rule} (default: only the limit of the server; docs/limits.md)`,
    allowed: 'a whole number from 1',
  });
}

function defineTaskBudget(fallback: number | undefined, what: string) {
  return defineSetting({
    kind: 'number',
    schema: optionalWholeNumber,
    fallback,
    describe: `how many ${what} a task may use before it asks a person whether to continue${fallback === undefined ? ' (default: no limit)' : ''}`,
    allowed: 'a whole number from 1',
  });
}

/** The limits in `limits.ts`. A running server can change them. */
export const COUNT_LIMIT_SETTINGS = {
  maxRequests: defineCountLimit(
    LIMITS.requests.principal,
    `${LIMITS.requests.what} a principal may have ${REFUSED}`,
  ),
  maxRequestsPerTenant: tenantCap(
    `${LIMITS.requests.what} all principals of one tenant together may have ${REFUSED}`,
  ),
  maxRequestsInAll: defineCountLimit(
    LIMITS.requests.server,
    `${LIMITS.requests.what} this server may have ${REFUSED}`,
  ),
  maxStreams: defineCountLimit(
    LIMITS.streams.principal,
    `${LIMITS.streams.what} a principal may have ${REFUSED}`,
  ),
  maxStreamsPerTenant: tenantCap(
    `${LIMITS.streams.what} all principals of one tenant together may have ${REFUSED}`,
  ),
  maxStreamsInAll: defineCountLimit(
    LIMITS.streams.server,
    `${LIMITS.streams.what} this server may have ${REFUSED}`,
  ),
  maxTasks: defineCountLimit(LIMITS.executions.principal, `tasks of a principal may run ${QUEUED}`),
  maxTasksPerTenant: tenantCap(`tasks all principals of one tenant together may run ${QUEUED}`),
  maxTasksInAll: defineCountLimit(LIMITS.executions.server, `tasks may run on this server ${QUEUED}`),
  maxQueuedTasks: defineCountLimit(
    LIMITS.queuedTasks.principal,
    `tasks of a principal may wait for their turn ${REFUSED}`,
  ),
  maxQueuedTasksPerTenant: tenantCap(`tasks of one tenant may wait for their turn ${REFUSED}`),
  maxQueuedTasksInAll: defineCountLimit(
    LIMITS.queuedTasks.server,
    `tasks may wait for their turn on this server ${REFUSED}`,
  ),
  maxTaskEvents: defineCountLimit(DEFAULT_TASK_LIMIT.events, `events one task may write; ${FAILS}`),
  maxTaskMegabytes: defineCountLimit(
    DEFAULT_TASK_LIMIT.megabytes,
    `megabytes of events one task may write; ${FAILS}`,
  ),
  maxDailyEvents: defineCountLimit(LIMITS.dailyEvents.principal, `events a principal may write ${DAILY}`),
  maxDailyEventsPerTenant: tenantCap(`events all principals of one tenant together may write ${DAILY}`),
  maxDailyEventsInAll: defineCountLimit(
    LIMITS.dailyEvents.server,
    `events all principals together may write ${DAILY}`,
  ),
  maxDailyMegabytes: defineCountLimit(
    LIMITS.dailyMegabytes.principal,
    `megabytes of events a principal may write ${DAILY}`,
  ),
  maxDailyMegabytesPerTenant: tenantCap(
    `megabytes of events all principals of one tenant together may write ${DAILY}`,
  ),
  maxDailyMegabytesInAll: defineCountLimit(
    LIMITS.dailyMegabytes.server,
    `megabytes of events all principals together may write ${DAILY}`,
  ),
} as const;

export const LIMIT_SETTINGS = {
  toolTimeout: defineTimeLimit('1h', 'maximum time for one tool execution; then the server stops it'),
  modelTimeout: defineTimeLimit(
    '10m',
    'maximum time for one answer of the model; then the task fails, and its session can continue',
  ),
  turnTimeout: defineTimeLimit(
    'never',
    'maximum working time for one turn (an answer and its tool calls); then the server stops the rest of the turn',
  ),
  taskTimeout: defineTimeLimit(
    'never',
    'maximum working time for one task; then the task fails; waiting for a person does not count',
  ),
  grace: defineSetting({
    placeholder: 'time',
    schema: durationSchema.pipe(z.number({ error: 'it must be finite, because a stopped tool must end' })),
    fallback: '5s',
    describe: 'how long a stopped tool may run before its processes are killed',
    allowed: 'a number with s, m, h or d, e.g. 5s',
  }),
  drain: defineSetting({
    placeholder: 'time',
    schema: durationSchema.pipe(z.number({ error: 'it must be finite' })).optional(),
    describe:
      'how long a server that is told to stop still accepts requests, while /readyz answers 503; for a server behind a load balancer (default: not at all)',
    allowed: 'a number with s, m, h or d, e.g. 5s',
  }),
  budgetTurns: defineTaskBudget(200, 'turns of the model'),
  budgetToolCalls: defineTaskBudget(undefined, 'tool calls'),
  budgetTokens: defineTaskBudget(undefined, 'tokens, input and output together,'),
  budgetCost: defineSetting({
    kind: 'number',
    placeholder: 'dollars',
    schema: z.number().positive().optional(),
    describe:
      'how many US dollars a task may cost, by the known or configured prices, before it asks a person whether to continue (default: no limit)',
    allowed: 'a number above 0',
  }),
  budgetCostPerDay: defineSetting({
    kind: 'number',
    placeholder: 'dollars',
    schema: z.number().positive().optional(),
    describe:
      'how many US dollars all tasks of a principal may cost on one day (UTC) before each asks a person whether to continue (default: no limit)',
    allowed: 'a number above 0',
  }),
  budgetTime: defineTimeLimit('never', 'working time after which a task asks a person whether to continue'),
  ...COUNT_LIMIT_SETTINGS,
  decisionTimeout: defineDuration(
    '7d',
    'how long an action waits for a decision, or a question for an answer, before the server cancels the task (never: no limit)',
  ),
} as const;

type CountLimitValues = SettingValues<typeof COUNT_LIMIT_SETTINGS>;

export function limitsFromSettings(settings: CountLimitValues): Limits {
  return {
    requests: countsByScope(settings, 'maxRequests'),
    streams: countsByScope(settings, 'maxStreams'),
    executions: countsByScope(settings, 'maxTasks'),
    queuedTasks: countsByScope(settings, 'maxQueuedTasks'),
    dailyEvents: countsByScope(settings, 'maxDailyEvents'),
    dailyMegabytes: countsByScope(settings, 'maxDailyMegabytes'),
    task: { events: settings.maxTaskEvents, megabytes: settings.maxTaskMegabytes },
  };
}

/** Reads the three settings of one limit: of a principal, of a tenant and of the server. */
function countsByScope(
  settings: CountLimitValues,
  name: 'maxRequests' | 'maxStreams' | 'maxTasks' | 'maxQueuedTasks' | 'maxDailyEvents' | 'maxDailyMegabytes',
): CountsByScope {
  const tenant = settings[`${name}PerTenant`];
  return {
    principal: settings[name],
    ...(tenant !== undefined && { tenant }),
    server: settings[`${name}InAll`],
  };
}
