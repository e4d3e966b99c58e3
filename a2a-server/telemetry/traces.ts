/** Defines what the server traces, independent of the library that records. */
import type { TraceContext } from '../../shared/net/trace-context.ts';
import type { JournalEntry } from '../task/events.ts';

interface TracedRequest {
  method: string;
  route: string | undefined;
  operation: string | undefined;
  status: number;
  taskId: string | undefined;
}

interface RequestSpan {
  /** The position in the trace under which the work of this request is recorded. */
  trace: TraceContext;
  end(request: TracedRequest): void;
}

export interface Traces {
  /** Begins the span of a request. @param parent the context that the client sent */
  request(parent: TraceContext | undefined): RequestSpan;
  /** Records the work that these durable entries begin or end. @param trace the task's trace */
  appended(taskId: string, entries: readonly JournalEntry[], trace: TraceContext | undefined): void;
  /** Ends the open executions, and sends the last spans. */
  close(): Promise<void>;
}
