/**
 * The metrics of a server: their names, units and attributes. If the OpenTelemetry semantic conventions define a name,
 * the metric has this name. No attribute has a value that a client chooses, and none names a user or a task.
 */

interface MetricDefinition {
  kind: 'counter' | 'histogram' | 'gauge';
  /** A UCUM unit. A word in braces is a comment, and not part of the Prometheus name. */
  unit: string;
  description: string;
  attributes: readonly string[];
  /** The upper bounds of the buckets of a histogram. */
  bounds?: readonly number[];
}

/** The bucket bounds for HTTP requests, from 5 ms to 10 s, as the semantic conventions advise. */
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const APPEND_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/**
 * The bounds that the semantic conventions advise for model calls. Tools have the same bounds, because both may take
 * minutes.
 */
const WORK_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKEN_BUCKETS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304];

export const METRICS = {
  'http.server.request.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Duration of answered HTTP requests. Event streams are not included.',
    attributes: ['http.request.method', 'http.route', 'http.response.status_code', 'rpc.method'],
    bounds: REQUEST_SECONDS,
  },
  'a2a.server.streams': {
    kind: 'gauge',
    unit: '{stream}',
    description: 'Open event streams.',
    attributes: [],
  },
  'a2a.server.refusals': {
    kind: 'counter',
    unit: '{request}',
    description: 'Requests that a limit of this server has refused.',
    attributes: ['a2a.limit', 'a2a.limit.scope'],
  },
  'a2a.server.push_notifications': {
    kind: 'counter',
    unit: '{attempt}',
    description: 'Attempts to deliver a push notification, and receivers that were given up.',
    attributes: ['a2a.push.result'],
  },
  'a2a.server.tasks': {
    kind: 'gauge',
    unit: '{task}',
    description: 'Tasks in the journal by state, of all servers that use it.',
    attributes: ['a2a.task.state'],
  },
  'a2a.server.oldest_wait': {
    kind: 'gauge',
    unit: 's',
    description:
      'Time since the last change of the task that has waited longest for a person. 0 if none waits.',
    attributes: [],
  },
  'a2a.server.ended_tasks': {
    kind: 'counter',
    unit: '{task}',
    description: 'Tasks that ended through this server, by final state.',
    attributes: ['a2a.task.state'],
  },
  'a2a.server.executions': {
    kind: 'gauge',
    unit: '{task}',
    description: 'Tasks that this server executes.',
    attributes: [],
  },
  'a2a.server.queued_tasks': {
    kind: 'gauge',
    unit: '{task}',
    description: 'Tasks that wait for their turn on this server.',
    attributes: [],
  },
  'a2a.server.decisions': {
    kind: 'counter',
    unit: '{decision}',
    description: 'Decisions about tool calls, by channel.',
    attributes: ['a2a.decision', 'a2a.channel'],
  },
  'a2a.server.append.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Time until an append to the journal is durable, or refused.',
    attributes: ['a2a.append.result'],
    bounds: APPEND_SECONDS,
  },
  'a2a.server.journal.size': {
    kind: 'gauge',
    unit: 'By',
    description: 'Size of the journal.',
    attributes: [],
  },
  'a2a.server.journal.reachable': {
    kind: 'gauge',
    unit: '',
    description: '1 if this server can reach the journal, otherwise 0.',
    attributes: [],
  },
  'a2a.server.lease.remaining': {
    kind: 'gauge',
    unit: 's',
    description: 'Time until this server must stop its work. Absent if no other server can use the journal.',
    attributes: [],
  },
  'gen_ai.client.operation.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Duration of model calls.',
    attributes: ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model', 'error.type'],
    bounds: WORK_SECONDS,
  },
  'gen_ai.client.token.usage': {
    kind: 'histogram',
    unit: '{token}',
    description: 'Tokens of model calls, as the provider reports them.',
    attributes: [
      'gen_ai.operation.name',
      'gen_ai.provider.name',
      'gen_ai.request.model',
      'gen_ai.token.type',
    ],
    bounds: TOKEN_BUCKETS,
  },
  'a2a.server.cost': {
    kind: 'counter',
    unit: 'USD',
    description: 'Cost of model calls. Models without a known price are not included.',
    attributes: ['gen_ai.request.model'],
  },
  'a2a.server.tool.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Duration of tool executions.',
    attributes: ['gen_ai.tool.name', 'a2a.tool.outcome'],
    bounds: WORK_SECONDS,
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricName = keyof typeof METRICS;
