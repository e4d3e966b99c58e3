/** Tests the connections to a real PostgreSQL. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  openPostgresConnection,
  openPostgresPool,
  parseDatabaseUrl,
} from '../../../../../a2a-server/journal/postgres/driver.ts';
import {
  type PostgresServer,
  START_LIMIT_MS,
  startPostgres,
  whyNoPostgres,
} from '../../../../support/postgres-server.ts';

if (whyNoPostgres !== undefined) it.skip(`not run: ${whyNoPostgres}`, () => undefined);
else {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres('default_transaction_isolation=serializable');
  }, START_LIMIT_MS);
  afterAll(() => server.dispose());

  it('E1 each connection has the isolation level that the statements need', async () => {
    const address = parseDatabaseUrl(await server.createDatabase());
    const [connection, pool] = [await openPostgresConnection(address), openPostgresPool(address, 1)];
    for (const each of [connection, pool])
      expect(await each.query({ text: 'SHOW transaction_isolation' })).toEqual([['read committed']]);
    connection.close();
    await pool.close();
  });
}
