/** Measures the server, and offers the metrics in the ways that the settings choose. */
import { systemClock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import { createAuthenticator } from '../http/auth/tokens.ts';
import { createRequestMeasurement } from '../http/routes/request-measurement.ts';
import type { RunningTaskService } from '../executor/journal-task-service.ts';
import type { Journal } from '../journal/journal.ts';
import { createMeasuredServerStateReader } from '../telemetry/measured-server-state.ts';
import type { AppOptions } from './app.ts';
import { listenForMetrics } from './listen-for-metrics.ts';
import type { Telemetry } from './open-telemetry.ts';
import type { ServerSettings } from './settings/settings.ts';

interface MeasuredServer {
  telemetry: Telemetry;
  settings: Pick<ServerSettings, 'metrics' | 'metricsToken'>;
  token: string;
  journal: Journal;
  log: Logger;
}

/** @throws ProductError CONFIGURATION */
export async function openOfferedMetrics(
  { telemetry, settings, token, journal, log }: MeasuredServer,
  tasks: Pick<RunningTaskService, 'executing' | 'waiting'>,
): Promise<Pick<AppOptions, 'measured' | 'metrics'>> {
  const { metrics } = telemetry;
  if (metrics === undefined) return {};
  const measured = createRequestMeasurement((request) => metrics.request(request));
  metrics.observe(
    createMeasuredServerStateReader({
      journal,
      clock: systemClock,
      streams: () => measured.openStreams(),
      executions: () => tasks.executing(),
      queued: () => tasks.waiting(),
    }),
  );
  const text = (): Promise<string> => metrics.prometheusText();
  switch (settings.metrics.type) {
    case 'off':
      return { measured };
    case 'other-address':
      telemetry.onClose(await listenForMetrics(settings.metrics, text, log));
      return { measured };
    case 'own-address': {
      const { metricsToken } = settings;
      const readers = [token, ...(metricsToken === undefined ? [] : [metricsToken])];
      const authenticate = createAuthenticator(
        readers.map((each) => ({ principal: 'metrics', token: each })),
      );
      return { measured, metrics: { text, authenticate } };
    }
  }
}
