/** Replaces the SQLite driver of the bridge: the real driver with a SIGKILL at one write (see `death.ts`). */
import { openSqlite as openReally, type Sqlite } from '../../../shared/sqlite/driver.ts';
import { mortalWrites } from './death.ts';

const mortal = mortalWrites();

export type { RunStatement, RunQuery, Sqlite, SqliteValue } from '../../../shared/sqlite/driver.ts';

export function openSqlite(...args: Parameters<typeof openReally>): Sqlite {
  const database = openReally(...args);
  /** Writes before the first delegation do not count. */
  let delegates = false;
  let inTransaction = false;
  return {
    ...database,
    command(sql) {
      const command = database.command(sql);
      return (...values) => {
        const isFirst = !delegates && sql.startsWith('INSERT INTO delegations ');
        delegates ||= isFirst;
        if (delegates && !inTransaction) return mortal.write(() => command(...values));
        // The transaction of the first delegation counts as the first write.
        if (isFirst) mortal.before();
        return command(...values);
      };
    },
    transaction<Result>(work: () => Result): Result {
      const whole = (): Result => {
        inTransaction = true;
        try {
          return database.transaction(work);
        } finally {
          inTransaction = false;
        }
      };
      if (delegates) return mortal.write(whole);
      const result = whole();
      if (delegates) mortal.after();
      return result;
    },
  };
}
