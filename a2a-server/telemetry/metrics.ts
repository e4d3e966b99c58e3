/** Defines what the server measures, independent of the library that counts. */
import type { AppendResult, JournalStatistics } from '../journal/journal.ts';
import type { LimitName, LimitScope } from '../limits/limits.ts';
import type { PushResult } from '../push/push-subscription.ts';
import type { JournalEntry } from '../task/events.ts';

export interface AnsweredRequest {
  method: string;
  /** The route's pattern, e.g. `/tasks/{id}`. Absent for an unknown address. */
  route?: string;
  status: number;
  /** The JSON-RPC method. Absent for other requests. */
  operation?: string;
  seconds: number;
}

/** The server's state at the time of a measurement. */
export interface MeasuredServerState {
  streams: number;
  executions: number;
  queued: number;
  /** The numbers of the journal. Undefined if the journal cannot be reached, or does not answer in time. */
  statistics: JournalStatistics | undefined;
  now: number;
  /** The remaining time of the server's lease. Undefined if the server needs no lease. */
  leaseMs: number | undefined;
}

export interface Metrics {
  /** Counts the work that ends with these durable entries. */
  appended(taskId: string, entries: readonly JournalEntry[]): void;
  append(result: AppendResult['type'] | 'error', seconds: number): void;
  request(request: AnsweredRequest): void;
  /** Counts a request that a limit has refused. */
  refused(limit: LimitName, scope: LimitScope): void;
  /** Counts an attempt to deliver a push notification, or the end of all attempts for a receiver. */
  pushed(result: PushResult): void;
  /** Sets the source of the gauges. Until then they have no value. */
  observe(facts: () => Promise<MeasuredServerState>): void;
  /** Returns all metrics in the text format of Prometheus. */
  prometheusText(): Promise<string>;
  /** Sends the last values over OTLP, if OTLP is configured. */
  close(): Promise<void>;
}
