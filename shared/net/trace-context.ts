/**
 * Reads the trace context of a request: the headers of W3C Trace Context, or the fields of the same names in MCP's
 * `_meta` (SEP-414).
 */

/** The position of a request in a distributed trace. It names no user and no content. */
export interface TraceContext {
  /** The ids of the trace and of the parent span: `00-<trace id>-<span id>-<flags>`. */
  traceparent: string;
  /** Data that a tracing system adds to the trace. */
  tracestate?: string;
}

const TRACEPARENT =
  /^(?<version>[\da-f]{2})-(?<traceId>[\da-f]{32})-(?<spanId>[\da-f]{16})-(?<flags>[\da-f]{2})(?<more>-.*)?$/;
/** The maximum length of `tracestate`. W3C Trace Context §3.3.1.5: a system must pass on at least 512 characters. */
const MAX_TRACESTATE_CHARACTERS = 512;
const TRACESTATE = /^[\x20-\x7e]+$/;

/**
 * Reads a trace context. Returns undefined if it is missing or invalid. W3C Trace Context §3.2.2.1: if the version is
 * unknown, the receiver reads the fields of version 00.
 */
export function parseTraceContext(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const { version, traceId = '', spanId = '', flags, more } = TRACEPARENT.exec(traceparent)?.groups ?? {};
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const valid =
    typeof tracestate === 'string' &&
    tracestate.length <= MAX_TRACESTATE_CHARACTERS &&
    TRACESTATE.test(tracestate);
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(valid && { tracestate }) };
}

interface TraceIds {
  traceId: string;
  spanId: string;
  flags: number;
}

/** Splits the ids of a trace context. @param context a result of `parseTraceContext` */
export function traceIds({ traceparent }: TraceContext): TraceIds {
  const [, traceId = '', spanId = '', flags = '00'] = traceparent.split('-');
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

export function traceContext({ traceId, spanId, flags }: TraceIds, tracestate?: string): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
  return { traceparent, ...(tracestate && { tracestate }) };
}
