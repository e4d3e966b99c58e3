import type { Logger } from '../../shared/runtime/logging.ts';
import { otlpSignals } from '../../shared/telemetry/otlp-signals.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import type { TraceContext } from '../../shared/net/trace-context.ts';

/** Records an OpenTelemetry span for each MCP tool call. */
export interface CallSpans {
  /**
   * Starts the span of a tool call.
   * @param parent the trace that the client sent; without it, the span starts a new trace
   */
  start(tool: string, parent: TraceContext | undefined): CallSpan;
  /** Sends the ended spans to the receiver. */
  close(): Promise<void>;
}

interface CallSpan {
  /** The trace context for the requests that the tool call sends to agents. */
  trace: TraceContext;
  /** Ends the span. The caller must call this exactly once. */
  end(outcome: 'ok' | 'error'): void;
}

/**
 * Prepares the spans of tool calls, if the OTEL_* variables ask for traces. Otherwise returns undefined, and imports no
 * OpenTelemetry code.
 */
export async function callSpansFromEnvironment(
  env: Environment,
  log: Logger,
): Promise<CallSpans | undefined> {
  // The bridge has no metrics. So the variables for metrics belong to other programs, and their problems are not
  // reported.
  const signals = otlpSignals({ ...env, OTEL_METRICS_EXPORTER: 'none' });
  for (const problem of signals.problems) log.warn(problem);
  if (!signals.traces) return undefined;
  const [{ openCallSpans }, { logTelemetryProblems }] = await Promise.all([
    import('./open-call-spans.ts'),
    import('../../shared/telemetry/log-problems.ts'),
  ]);
  logTelemetryProblems(log);
  return openCallSpans(env);
}
