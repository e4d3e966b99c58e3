import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Appender, type LimitedAppend } from '../../../../../a2a-server/journal/postgres/appender.ts';
import type { PostgresConnection } from '../../../../../a2a-server/journal/postgres/driver.ts';
import { prepareAppend } from '../../../../../a2a-server/journal/prepared-append.ts';
import { beginning } from '../../../../support/journal-samples.ts';

function append(taskId: string, until: number): LimitedAppend {
  return { ...prepareAppend(beginning(taskId)), until };
}

describe('the appender', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('E3 an append whose time passes while the writer waits for the database is not sent with the others', async () => {
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const sent: string[] = [];
    const connection: PostgresConnection = {
      query: async (_statement, values) => {
        sent.push(JSON.stringify(values));
        return [];
      },
      backend: 1,
      usable: true,
      onLost: () => undefined,
      onNotification: () => undefined,
      drop: () => undefined,
      close: () => undefined,
    };
    const writer: ConstructorParameters<typeof Appender>[0] = {
      id: 'server',
      batch: 0,
      noteBatch: () => undefined,
      removed: () => new Error('removed'),
      run: async (work) => {
        now = 200;
        return work(connection);
      },
    };
    const appender = new Appender(writer, () => 0);
    const outcomes = await appender.commit([append('late-task', 50), append('other-task', 1_000)]);
    expect(outcomes).toMatchObject([
      { type: 'refused', error: { code: 'TIMEOUT' } },
      { type: 'done', result: { type: 'appended' } },
    ]);
    expect(sent.filter((values) => values.includes('task.created'))).toEqual([
      expect.not.stringContaining('late-task'),
    ]);
  });
});
