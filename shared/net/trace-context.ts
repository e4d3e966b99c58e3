/** Reads the trace context of a request: the headers of W3C Trace Context, or the same names in `_meta` of MCP (SEP-414). */

/** A position in a distributed trace. It names no user and no content. */
export interface TraceContext {
  /** The id of the trace and of the span that causes the work: `00-<trace id>-<span id>-<flags>`. */
  traceparent: string;
  /** The data of tracing systems about the trace. */
  tracestate?: string;
}

const TRACEPARENT =
  /^(?<version>[\da-f]{2})-(?<traceId>[\da-f]{32})-(?<spanId>[\da-f]{16})-(?<flags>[\da-f]{2})(?<more>-.*)?$/;
/** W3C Trace Context §3.3.1.5: a system must pass on at least 512 characters. */
const LONGEST_STATE = 512;
const STATE = /^[\x20-\x7e]+$/;

/**
 * Returns undefined for a missing or invalid context. W3C Trace Context §3.2.2.1: a receiver of an unknown version reads
 * the fields of version 00.
 */
export function readTraceContext(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const { version, traceId = '', spanId = '', flags, more } = TRACEPARENT.exec(traceparent)?.groups ?? {};
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const valid =
    typeof tracestate === 'string' && tracestate.length <= LONGEST_STATE && STATE.test(tracestate);
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(valid && { tracestate }) };
}

export interface TraceIds {
  traceId: string;
  spanId: string;
  flags: number;
}

/** @param context a context of `readTraceContext` */
export function traceIds({ traceparent }: TraceContext): TraceIds {
  const [, traceId = '', spanId = '', flags = '00'] = traceparent.split('-');
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

export function traceContext({ traceId, spanId, flags }: TraceIds, tracestate?: string): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
  return { traceparent, ...(tracestate && { tracestate }) };
}
