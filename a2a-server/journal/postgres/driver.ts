/**
 * Connects to PostgreSQL. No other file uses the driver. Rows are arrays. An error has a code: an SQLSTATE, a system
 * error code, or `CONNECTION`.
 */
import { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Client, Pool, types, type ClientConfig } from 'pg';
import { PROBE_AFTER_MS } from '../../../shared/net/tcp-keep-alive.ts';
import { errorMessageOf, errorCode } from '../../../shared/runtime/errors.ts';
import type { SqlRow } from '../../../shared/state/sql-row.ts';
import type { SqlStatement } from '../sql-dialect.ts';

export type PostgresValue = string | number | boolean | null | Uint8Array | readonly PostgresValue[];

interface PostgresStatement extends SqlStatement {
  /** The time limit in milliseconds. The default is `STATEMENT_MS`. */
  timeoutMs?: number;
}

export interface QueryRunner {
  /** Runs a statement and returns its rows. @throws PostgresError */
  query(statement: PostgresStatement, values?: readonly PostgresValue[]): Promise<SqlRow[]>;
}

/** A connection to PostgreSQL. Its statements run in the order of the calls. */
export interface PostgresConnection extends QueryRunner {
  /** The id of the PostgreSQL process that serves this connection. */
  readonly backend: number;
  /** True until the connection is lost or closed. */
  readonly usable: boolean;
  /** Calls `listener` once if the connection is lost, but not if it is closed. */
  onLost(listener: () => void): void;
  /** Calls `listener` with the payload of each notification of the channels that this connection listens to. */
  onNotification(listener: (payload: string) => void): void;
  /** Ends the connection at once. It then counts as lost. */
  drop(): void;
  close(): void;
}

interface PostgresPool extends QueryRunner {
  /** Ends all connections at once. Their statements fail, and later statements open others. */
  drop(): void;
  close(): Promise<void>;
}

export interface DatabaseAddress {
  url: string;
  /** The name of the database for messages, without user and password. */
  label: string;
}

/** An error of PostgreSQL or of the connection to it. */
export class PostgresError extends Error {
  override readonly name = 'PostgresError';
  readonly code: string;

  constructor(code: string, message: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** The time limit for a new connection. */
const CONNECT_MS = 5_000;
/** The time limit for a statement. After this time, the connection counts as lost. */
const STATEMENT_MS = 30_000;
/** The maximum time to wait for PostgreSQL when a connection closes. PostgreSQL may be unreachable. */
export const CLOSE_TIMEOUT_MS = 2_000;

/** The type `int8`. In the journal, such a value is a time, a key or a count, which a number represents exactly. */
const INT8: number = types.builtins.INT8;
/** The type `int8[]` has this OID in every PostgreSQL (`pg_type.dat`). The driver has no name for it. */
const INT8_ARRAY = 1016;
const numbers: NonNullable<ClientConfig['types']> = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return Number;
    if (oid === INT8_ARRAY)
      return (text: string) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(Number));
    return types.getTypeParser(oid, format);
  },
};

/**
 * The settings of each connection. E1: the statements of this server need READ COMMITTED. With this isolation level, an
 * update that has waited for another update sees the row that the other update has written (`append-batch-sql.ts`).
 * With a stricter level, PostgreSQL would refuse such an update.
 */
const SET_ISOLATION = "set_config('default_transaction_isolation', 'read committed', false)";

function clientConfig({ url }: DatabaseAddress): ClientConfig {
  return {
    connectionString: url,
    fallback_application_name: 'a2a-server',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
    // TCP probes detect a connection that a network has dropped silently, as some networks do after idle minutes. By
    // default, the first probe comes only after hours.
    keepAlive: true,
    keepAliveInitialDelayMillis: PROBE_AFTER_MS,
    types: numbers,
  };
}

/** Parses the URL of a database. @throws TypeError if the URL is not valid. Its message contains no password. */
export function parseDatabaseUrl(url: string): DatabaseAddress {
  try {
    const { host, port, database } = new Client({ connectionString: url });
    const place = host.startsWith('/') ? host : `${host}:${port}`;
    return { url, label: `${place}/${database ?? ''}` };
  } catch {
    // The driver's own error is not used, because it may contain the URL.
    throw new TypeError('this is not a URL of a PostgreSQL database');
  }
}

/**
 * Opens one connection. If `prepare` throws, closes it again. An abort of `signal` ends it at once, in each phase.
 * @throws PostgresError, and the errors of `prepare`
 */
export async function openPostgresConnection(
  address: DatabaseAddress,
  prepare: (connection: PostgresConnection) => Promise<unknown> = async () => undefined,
  signal?: AbortSignal,
): Promise<PostgresConnection> {
  const connection = await connect(address, signal);
  await prepare(connection).catch((error: unknown) => {
    connection.close();
    throw error;
  });
  return connection;
}

async function connect(address: DatabaseAddress, signal?: AbortSignal): Promise<PostgresConnection> {
  const socket = new Socket();
  const client = new Client({ ...clientConfig(address), stream: () => socket });
  let usable = true;
  let lost: (() => void) | undefined;
  const lose = (): void => {
    if (!usable) return;
    usable = false;
    socket.destroy();
    lost?.();
  };
  client.on('error', lose);
  client.on('end', lose);
  signal?.addEventListener('abort', lose);
  const run = async (statement: PostgresStatement, values: readonly PostgresValue[]): Promise<SqlRow[]> => {
    try {
      return await send(client, statement, values);
    } catch (error) {
      // If the database did not answer, its answer may still arrive later. So this connection is not used again.
      if (isDatabaseUnavailable(error)) lose();
      throw error;
    }
  };
  /**
   * Resolves when the last statement has ended. Each new statement waits for this, because the driver's own queue of
   * statements is deprecated.
   */
  let last: Promise<unknown> = Promise.resolve();
  try {
    await client.connect();
    const [[backend] = []] = await send(client, { text: `SELECT pg_backend_pid(), ${SET_ISOLATION}` }, []);
    return {
      backend: Number(backend),
      get usable() {
        return usable;
      },
      query(statement, values = []) {
        const result = last.then(() => run(statement, values));
        last = result.catch(() => undefined);
        return result;
      },
      onLost(listener) {
        lost = listener;
      },
      onNotification(listener) {
        client.on('notification', ({ payload }) => listener(payload ?? ''));
      },
      drop: lose,
      close() {
        usable = false;
        // `end` waits for PostgreSQL, which may be unreachable. So this timer limits the wait.
        const limit = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS);
        client.end(() => {
          clearTimeout(limit);
          socket.destroy();
        });
      },
    };
  } catch (error) {
    lose();
    throw toPostgresError(error);
  }
}

/**
 * A client with a time limit of its own for connecting (`CONNECT_MS`). The pool passes its options to each client, and
 * would otherwise give it `waitMs`, the time that a caller waits for a connection.
 */
class PoolClient extends Client {
  constructor(config?: ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_MS });
  }
}

/**
 * Opens connections when they are needed.
 * @param limits `most` is the maximum number of connections; `waitMs` the maximum time to wait for a free one
 */
export function openPostgresPool(
  address: DatabaseAddress,
  { most, waitMs }: { most: number; waitMs: number },
): PostgresPool {
  const sockets = new Set<Socket>();
  const openSocket = (): Socket => {
    const socket = new Socket();
    sockets.add(socket);
    return socket.once('close', () => sockets.delete(socket));
  };
  const pool = new Pool({
    ...clientConfig(address),
    Client: PoolClient,
    connectionTimeoutMillis: waitMs,
    max: most,
    stream: openSocket,
    // The pool waits for this promise, although the types of the driver do not say so.
    onConnect: (client): unknown => send(client, { text: `SELECT ${SET_ISOLATION}` }, []),
  });
  // An error of an idle connection is ignored. The pool removes this connection, and the next statement opens another.
  pool.on('error', () => undefined);
  return {
    async query(statement, values = []) {
      const client = await pool.connect().catch((error: unknown) => {
        throw toPostgresError(error);
      });
      let broken = false;
      // While a statement runs, the pool does not listen for errors of its connection. Without this listener, the
      // loss of the connection would end the process.
      const note = (): void => {
        broken = true;
      };
      client.on('error', note);
      try {
        return await send(client, statement, values);
      } catch (error) {
        broken ||= isDatabaseUnavailable(error);
        throw error;
      } finally {
        client.off('error', note);
        client.release(broken);
      }
    },
    drop() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      const stop = new AbortController();
      const limit = wait(CLOSE_TIMEOUT_MS, undefined, { signal: stop.signal }).catch(() => undefined);
      await Promise.race([pool.end(), limit]);
      stop.abort();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function send(
  client: Pick<Client, 'query'>,
  { timeoutMs, ...statement }: PostgresStatement,
  values: readonly PostgresValue[],
): Promise<SqlRow[]> {
  try {
    const query = {
      ...statement,
      ...(timeoutMs !== undefined && { query_timeout: timeoutMs }),
      rowMode: 'array' as const,
      ...(values.length > 0 && { values: [...values] }),
    };
    const result = await client.query<unknown[]>(query);
    // For several statements, the driver returns a list of results.
    return Array.isArray(result) ? [] : result.rows;
  } catch (error) {
    throw toPostgresError(error);
  }
}

function toPostgresError(error: unknown): PostgresError {
  if (error instanceof PostgresError) return error;
  return new PostgresError(errorCode(error) ?? 'CONNECTION', errorMessageOf(error), error);
}

/**
 * The SQLSTATEs after which another connection may succeed: a shutdown, a start, a read-only standby, too many
 * connections, and all of class 08 (connection exceptions).
 */
const PASSING_SQLSTATES = /^(?:08...|57P0[1-5]|53300|25006)$/;

/** True if the statement may succeed on a new connection later. */
export function isDatabaseUnavailable(error: unknown): error is PostgresError {
  if (!(error instanceof PostgresError)) return false;
  const isSqlState = /^[0-9A-Z]{5}$/.test(error.code) && /\d/.test(error.code);
  return !isSqlState || PASSING_SQLSTATES.test(error.code);
}
