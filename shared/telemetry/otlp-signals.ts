/**
 * Decides from the standard OTEL_* variables which telemetry this process sends over OTLP. A server without these
 * variables sends nothing.
 */
import type { Environment } from '../runtime/environment.ts';

interface OtlpSignals {
  metrics: boolean;
  traces: boolean;
  /** One sentence for each variable that asks for something that this program does not support. */
  problems: string[];
}

/** The supported values of OTEL_*_EXPORTER. */
const EXPORTERS = ['otlp', 'none'];
const PROTOCOLS = ['http/protobuf', 'http/json'];

/**
 * Returns which signals are sent. A signal is sent if its exporter is `otlp`. It is also sent if an endpoint is set,
 * and no exporter is named. It is not sent over an unsupported protocol, or if `OTEL_SDK_DISABLED` is `true`.
 */
export function otlpSignals(env: Environment): OtlpSignals {
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true')
    return { metrics: false, traces: false, problems: [] };
  const problems: string[] = [];
  const sends = (signal: 'METRICS' | 'TRACES'): boolean => {
    const exporter = env[`OTEL_${signal}_EXPORTER`] || undefined;
    const endpoint = env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] || env['OTEL_EXPORTER_OTLP_ENDPOINT'];
    if (exporter !== undefined && !EXPORTERS.includes(exporter))
      problems.push(`OTEL_${signal}_EXPORTER must be otlp or none. Nothing is sent.`);
    const wanted = exporter === undefined ? Boolean(endpoint) : exporter === 'otlp';
    const protocol =
      env[`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`] || env['OTEL_EXPORTER_OTLP_PROTOCOL'] || undefined;
    if (!wanted || protocol === undefined || PROTOCOLS.includes(protocol)) return wanted;
    problems.push(`OTLP over ${protocol} is not supported for ${signal.toLowerCase()}. Use http/protobuf.`);
    return false;
  };
  return { metrics: sends('METRICS'), traces: sends('TRACES'), problems };
}
