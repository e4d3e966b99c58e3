import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { Environment } from '../runtime/environment.ts';

/**
 * Reads OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG, which decide which traces are recorded. By default, a trace
 * from a client is recorded if the client records it. Each trace that the program itself starts is recorded too.
 */
export function createTraceSampler(env: Environment): Sampler {
  const { OTEL_TRACES_SAMPLER: name = '', OTEL_TRACES_SAMPLER_ARG: ratio = '' } = env;
  const root = rootSampler(name.replace(/^parentbased_/, ''), ratio);
  const alone = name !== '' && !name.startsWith('parentbased_');
  return alone ? root : new ParentBasedSampler({ root });
}

function rootSampler(name: string, ratio: string): Sampler {
  switch (name) {
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio === '' ? 1 : Number(ratio));
    default:
      return new AlwaysOnSampler();
  }
}
