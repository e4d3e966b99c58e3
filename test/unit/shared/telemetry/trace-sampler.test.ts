import { describe, expect, it } from '@jest/globals';
import { ROOT_CONTEXT, SpanKind, trace, TraceFlags } from '@opentelemetry/api';
import { SamplingDecision } from '@opentelemetry/sdk-trace';
import { createTraceSampler } from '../../../../shared/telemetry/trace-sampler.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const after = (traceFlags: TraceFlags) =>
  trace.setSpanContext(ROOT_CONTEXT, {
    traceId: TRACE,
    spanId: 'b7ad6b7169203331',
    traceFlags,
    isRemote: true,
  });

function records(env: Record<string, string>, context = ROOT_CONTEXT): boolean {
  const { decision } = createTraceSampler(env).shouldSample(context, TRACE, 'span', SpanKind.SERVER, {}, []);
  return decision === SamplingDecision.RECORD_AND_SAMPLED;
}

describe('the sampler of OTEL_TRACES_SAMPLER', () => {
  it.each([
    ['', '', [true, true, false]],
    ['parentbased_always_off', '', [false, true, false]],
    ['parentbased_traceidratio', '0', [false, true, false]],
    ['always_on', '', [true, true, true]],
    ['always_off', '', [false, false, false]],
    ['traceidratio', '1', [true, true, true]],
  ])('%s %s', (name, ratio, [root, sampled, unsampled]) => {
    const env = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio };
    expect([
      records(env),
      records(env, after(TraceFlags.SAMPLED)),
      records(env, after(TraceFlags.NONE)),
    ]).toEqual([root, sampled, unsampled]);
  });
});
