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
