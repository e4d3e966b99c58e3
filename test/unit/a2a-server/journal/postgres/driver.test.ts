/** Tests the connections to a real PostgreSQL. */
import { expect, it, jest } from '@jest/globals';
import { Socket } from 'node:net';
import {
  openPostgresConnection,
  openPostgresPool,
  parseDatabaseUrl,
} from '../../../../../a2a-server/journal/postgres/driver.ts';
import { onPostgres } from '../../../../support/on-postgres.ts';

onPostgres(['default_transaction_isolation=serializable'], (server) => {
  it('E1 each connection has the isolation level that the statements need, and keeps an idle network path open', async () => {
    const keepAlive = jest.spyOn(Socket.prototype, 'setKeepAlive');
    const address = parseDatabaseUrl(await server().createDatabase());
    const [connection, pool] = [
      await openPostgresConnection(address),
      openPostgresPool(address, { most: 1, waitMs: 5_000 }),
    ];
    for (const each of [connection, pool])
      expect(await each.query({ text: 'SHOW transaction_isolation' })).toEqual([['read committed']]);
    expect(keepAlive.mock.calls.filter(([, probeAfterMs]) => probeAfterMs === 60_000)).toHaveLength(2);
    keepAlive.mockRestore();
    connection.close();
    await pool.close();
  });

  it('S3 a statement that gets no free connection fails after its time limit', async () => {
    const address = parseDatabaseUrl(await server().createDatabase());
    const pool = openPostgresPool(address, { most: 1, waitMs: 50 });
    const long = pool.query({ text: 'SELECT pg_sleep(60)', timeoutMs: 60_000 }).catch(() => undefined);
    await expect(pool.query({ text: 'SELECT 1' })).rejects.toMatchObject({ code: 'CONNECTION' });
    await pool.close();
    await long;
  });
});
