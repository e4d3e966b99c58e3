import type { TraceContext } from '../../shared/net/trace-context.ts';

/** Records a span for each MCP tool call. */
export interface CallSpans {
  /** @param parent the trace that the client names; without it, the span begins a trace */
  start(tool: string, parent: TraceContext | undefined): CallSpan;
  /** Sends the spans that have ended. */
  close(): Promise<void>;
}

export interface CallSpan {
  /** The trace of the requests that the tool call sends to agents. */
  trace: TraceContext;
  /** Ends the span. Must be called once. */
  end(outcome: 'ok' | 'error'): void;
}
