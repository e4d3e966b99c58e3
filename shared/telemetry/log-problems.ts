import { diag, DiagLogLevel } from '@opentelemetry/api';
import type { Logger } from '../runtime/logging.ts';

/** The maximum length of a logged text. A text of the OpenTelemetry SDK may contain a response of the receiver. */
const MAX_TEXT_CHARS = 300;

const ignore = (): void => undefined;

/** Logs the problems of the OpenTelemetry SDK, e.g. a receiver that does not answer. */
export function logTelemetryProblems(log: Logger): void {
  const warn = (text: string): void =>
    log.warn({ problem: text.slice(0, MAX_TEXT_CHARS) }, 'telemetry has a problem');
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
