/** Sends spans over OTLP with the OpenTelemetry SDK. A program imports this file only if traces are switched on. */
import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  trace as traceApi,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { traceContext, type TraceContext, traceIds } from '../net/trace-context.ts';
import type { Environment } from '../runtime/environment.ts';
import { serviceResource } from './service-resource.ts';
import { createTraceSampler } from './trace-sampler.ts';

/**
 * The delay before spans are sent, in milliseconds: the default of OTEL_BSP_SCHEDULE_DELAY in the OpenTelemetry
 * specification.
 */
const SEND_AFTER_MS = 5_000;

interface TracerOptions {
  /** The name of the program (`service.name`). */
  service: string;
  /** The id of this process (`service.instance.id`). */
  instance: string;
  env: Environment;
}

interface TracerHandle {
  tracer: Tracer;
  /** Sends the remaining ended spans, and stops. */
  close: () => Promise<void>;
}

export function openTracer({ service, instance, env }: TracerOptions): TracerHandle {
  const processor = new BatchSpanProcessor({
    exporter: new OTLPTraceExporter(),
    scheduledDelayMillis: Number(env['OTEL_BSP_SCHEDULE_DELAY']) || SEND_AFTER_MS,
  });
  const provider = new TracerProvider({
    resource: serviceResource(service, instance),
    sampler: createTraceSampler(env),
    spanProcessors: [processor],
  });
  return { tracer: provider.getTracer(service), close: () => provider.shutdown() };
}

/**
 * Returns a context in which a new span becomes a child of the trace's current span. If `trace` is undefined, the new
 * span starts a new trace.
 */
export function otelContextOf(trace: TraceContext | undefined): Context {
  if (trace === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, flags } = traceIds(trace);
  return traceApi.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags,
    isRemote: true,
    ...(trace.tracestate !== undefined && { traceState: createTraceState(trace.tracestate) }),
  });
}

/** Returns the trace context in which this span is the current one. */
export function traceContextOfSpan(span: Span): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  return traceContext({ traceId, spanId, flags: traceFlags }, traceState?.serialize());
}
