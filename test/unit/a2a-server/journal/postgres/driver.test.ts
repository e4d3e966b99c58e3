/** Tests the connections to a real PostgreSQL. */
import { expect, it } from '@jest/globals';
import {
  openPostgresConnection,
  openPostgresPool,
  parseDatabaseUrl,
} from '../../../../../a2a-server/journal/postgres/driver.ts';
import { onPostgres } from '../../../../support/on-postgres.ts';

onPostgres(['default_transaction_isolation=serializable'], (server) => {
  it('E1 each connection has the isolation level that the statements need', async () => {
    const address = parseDatabaseUrl(await server().createDatabase());
    const [connection, pool] = [await openPostgresConnection(address), openPostgresPool(address, 1)];
    for (const each of [connection, pool])
      expect(await each.query({ text: 'SHOW transaction_isolation' })).toEqual([['read committed']]);
    connection.close();
    await pool.close();
  });
});
