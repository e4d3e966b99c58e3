/**
 * The trace of the MCP tool call that the bridge currently works on. The headers of requests to agents contain it (W3C
 * Trace Context). So one trace shows both the tool call and the agent's work.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { TraceContext } from '../../../shared/net/trace-context.ts';

const current = new AsyncLocalStorage<TraceContext | undefined>();

/** Runs the work in a trace. If `trace` is undefined, the work stays in the trace of its caller. */
export function runInTrace<Result>(trace: TraceContext | undefined, work: () => Result): Result {
  return trace === undefined ? work() : current.run(trace, work);
}

export function currentTrace(): TraceContext | undefined {
  return current.getStore();
}
