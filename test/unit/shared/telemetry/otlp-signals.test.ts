import { describe, expect, it } from '@jest/globals';
import { otlpSignals } from '../../../../shared/telemetry/otlp-signals.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

describe('the telemetry that the OTEL_* variables ask for', () => {
  it.each([
    ['no variable', {}, [false, false]],
    ['an endpoint', ENDPOINT, [true, true]],
    [
      'an endpoint of one signal',
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://h/v1/traces' },
      [false, true],
    ],
    ['an exporter without an endpoint', { OTEL_TRACES_EXPORTER: 'otlp' }, [false, true]],
    ['the exporter none', { ...ENDPOINT, OTEL_METRICS_EXPORTER: 'none' }, [false, true]],
    ['OTEL_SDK_DISABLED', { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }, [false, false]],
    ['empty variables', { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_EXPORTER: '' }, [false, false]],
  ])('%s', (_what, env, sent) => {
    const { metrics, traces, problems } = otlpSignals(env);
    expect([metrics, traces, problems]).toEqual([...sent, []]);
  });

  it('a protocol or an exporter that is not supported sends nothing, and is reported', () => {
    const grpc = otlpSignals({ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
    expect([grpc.metrics, grpc.traces]).toEqual([false, false]);
    expect(grpc.problems.join()).toContain('grpc is not supported');
    const stdout = otlpSignals({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'console' });
    expect([stdout.metrics, stdout.traces]).toEqual([true, false]);
    expect(stdout.problems).toEqual(['OTEL_TRACES_EXPORTER must be otlp or none. Nothing is sent.']);
  });
});
