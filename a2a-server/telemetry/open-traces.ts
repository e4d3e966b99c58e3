/**
 * Records the spans of the server. The names follow the semantic conventions for HTTP and for generative AI. A span
 * contains no content. The server loads this file only if traces are switched on.
 *
 * The spans of a task come from its durable events, and the journal has the task's trace. So the trace continues after
 * days and in another process. A span that is open when a process is killed is lost. Its child spans stay, if they were
 * already sent.
 */
import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace as traceApi,
  type Tracer,
} from '@opentelemetry/api';
import { otelContextOf, openTracer, traceContextOfSpan } from '../../shared/telemetry/open-tracer.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import { modelAttributes } from './model-attributes.ts';
import { TaskActivityTracker, type TaskActivity } from './task-activity.ts';
import type { Traces } from './traces.ts';

interface TracesOptions {
  /** Identifies this server process. */
  instance: string;
  env: Environment;
}

export function openTraces({ instance, env }: TracesOptions): Traces {
  const { tracer, close } = openTracer({ service: 'a2a-server', instance, env });
  const activities = new TaskActivityTracker();
  const executions = new Map<string, Span>();
  return {
    request(parent) {
      const span = tracer.startSpan('request', { kind: SpanKind.SERVER }, otelContextOf(parent));
      return {
        trace: traceContextOfSpan(span),
        end({ method, route, operation, status, taskId }) {
          span.updateName(operation ?? (route === undefined ? method : `${method} ${route}`));
          span.setAttributes({
            'http.request.method': method,
            'http.response.status_code': status,
            ...(route !== undefined && { 'http.route': route }),
            ...(operation !== undefined && { 'rpc.method': operation }),
            ...(taskId !== undefined && { 'a2a.task.id': taskId }),
          });
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    appended(taskId, entries, trace) {
      for (const activity of activities.note(taskId, entries))
        recordActivity(activity, { taskId, tracer, executions, parent: otelContextOf(trace) });
    },
    async close() {
      for (const span of executions.values()) span.end();
      await close();
    },
  };
}

interface RecordingContext {
  taskId: string;
  tracer: Tracer;
  /** The spans of the running executions, by task id. */
  executions: Map<string, Span>;
  /** The trace context of the task, under which its spans are recorded. */
  parent: Context;
}

function recordActivity(
  activity: TaskActivity,
  { taskId, tracer, executions, parent }: RecordingContext,
): void {
  const task = { 'a2a.task.id': taskId };
  const execution = executions.get(taskId);
  const inExecution = execution === undefined ? parent : traceApi.setSpan(parent, execution);
  const whole = (
    name: string,
    span: { kind?: SpanKind; startedAt: number; endedAt: number; failed: boolean; attributes: Attributes },
    context = inExecution,
  ): void => {
    const { kind = SpanKind.INTERNAL, startedAt, endedAt, failed, attributes } = span;
    const started = tracer.startSpan(
      name,
      { kind, startTime: startedAt, attributes: { ...task, ...attributes } },
      context,
    );
    if (failed) started.setStatus({ code: SpanStatusCode.ERROR });
    // The end must not be before the start, but the clock may be set back during the work.
    started.end(Math.max(startedAt, endedAt));
  };
  switch (activity.type) {
    case 'execution-start': {
      const attributes = {
        ...task,
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'a2a-server',
      };
      executions.set(
        taskId,
        tracer.startSpan('invoke_agent a2a-server', { startTime: activity.at, attributes }, parent),
      );
      return;
    }
    case 'execution-end':
      execution?.end(activity.at);
      executions.delete(taskId);
      return;
    case 'model-call': {
      const { usage, failed } = activity;
      whole(`chat ${activity.model}`, {
        ...activity,
        kind: SpanKind.CLIENT,
        attributes: {
          ...modelAttributes(activity.model),
          ...(usage && {
            'gen_ai.usage.input_tokens': usage.inputTokens,
            'gen_ai.usage.output_tokens': usage.outputTokens,
          }),
          ...(failed && { 'error.type': '_OTHER' }),
        },
      });
      return;
    }
    case 'tool-execution': {
      const { tool, callId, outcome } = activity;
      const failed = outcome !== 'ok';
      whole(`execute_tool ${tool}`, {
        ...activity,
        failed,
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': tool,
          'gen_ai.tool.call.id': callId,
          ...(failed && { 'error.type': outcome }),
        },
      });
      return;
    }
    case 'decision': {
      const { at, tool, callId, decision, channel } = activity;
      const attributes = {
        'gen_ai.tool.name': tool,
        'gen_ai.tool.call.id': callId,
        'a2a.decision': decision,
        'a2a.channel': channel,
      };
      whole('decide', { startedAt: at, endedAt: at, failed: false, attributes }, parent);
      return;
    }
    case 'summary':
    case 'task-end':
      return;
  }
}
