import { afterAll, beforeAll, it } from '@jest/globals';
import { type PostgresServer, START_LIMIT_MS, startPostgres, whyNoPostgres } from './postgres-server.ts';

/**
 * Declares tests that share one PostgreSQL server, or one skipped test that says why no server can run here.
 * @param options settings of PostgreSQL, such as `max_connections=20`
 * @param declare gets a function that returns the server, for use in tests and hooks
 */
export function onPostgres(
  options: readonly string[],
  declare: (server: () => PostgresServer) => void,
): void {
  if (whyNoPostgres !== undefined) {
    it.skip(`not run: ${whyNoPostgres}`, () => undefined);
    return;
  }
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(...options);
  }, START_LIMIT_MS);
  afterAll(() => server.dispose());
  declare(() => server);
}
