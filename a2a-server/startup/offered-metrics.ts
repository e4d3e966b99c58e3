/** Measures the server, and offers the metrics in the ways that the settings choose. */
import { systemClock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import { createAuthenticator } from '../http/auth/tokens.ts';
import { createRequestMeasurement } from '../http/routes/request-measurement.ts';
import type { RunningTaskService } from '../executor/task-service.ts';
import { createMeasuredServerStateReader } from '../telemetry/measured-server-state.ts';
import type { AppOptions } from './app.ts';
import type { OpenedServer } from './prepare-server.ts';
import { createServer, type ServerResponse } from 'node:http';
import { isLoopback } from '../../shared/net/loopback.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { checkHostAndOrigin } from '../http/auth/host-and-origin-check.ts';
import { METRICS_TYPE } from '../http/routes/metrics-route.ts';
import { listenProblem, listening } from './listen.ts';

/** @throws ProductError CONFIGURATION */
export async function openOfferedMetrics(
  { telemetry, settings, token, journal, log }: OpenedServer,
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

interface MetricsAddress {
  host: string;
  port: number;
}

/**
 * Answers `GET /metrics` at an address of its own, without a token. The operator has chosen this address. Returns a
 * function that ends the listener.
 * @throws ProductError CONFIGURATION if the address cannot be used
 */
async function listenForMetrics(
  { host, port }: MetricsAddress,
  text: () => Promise<string>,
  log: Logger,
): Promise<() => void> {
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      // X1: a web page could otherwise read a loopback address by DNS rebinding.
      if (isLoopback(host))
        checkHostAndOrigin(request.headers.host, request.headers.origin, { publicHosts: [], origins: [] });
      if (request.method !== 'GET' || request.url !== '/metrics') return end(response, 404);
      const body = await text();
      response.writeHead(200, { 'Content-Type': METRICS_TYPE, 'Cache-Control': 'no-store' }).end(body);
    };
    answer().catch((error: unknown) => {
      if (!(error instanceof ProductError)) log.error({ err: error }, 'the metrics could not be read');
      end(response, error instanceof ProductError ? 403 : 500);
    });
  });
  try {
    await listening(server, { host, port });
  } catch (error) {
    throw new ProductError(
      'CONFIGURATION',
      `The server cannot listen for metrics on ${host}:${port}: ${listenProblem(error)}. Choose another address with --metrics.`,
      { cause: error },
    );
  }
  const address = server.address();
  log.info(
    { host, port: typeof address === 'object' ? address?.port : port },
    'metrics can be read without a token',
  );
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}
