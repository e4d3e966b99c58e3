import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { openSqlite, type Sqlite } from '../../../../../shared/sqlite/driver.ts';
import {
  EventRowInserter,
  prepareEventInserts,
} from '../../../../../a2a-server/journal/sqlite/event-rows.ts';
import type { EventInsertStatements } from '../../../../../a2a-server/journal/sqlite/event-rows.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const AT = 1_700_000_000_000;

let database: Sqlite;
let inserts: EventInsertStatements;
let statements: { run: number; mixed: number };
let rows: EventRowInserter;

beforeEach(async () => {
  database = openSqlite(join(await temporaryDirectory(), 'events.db'), { busyTimeoutMs: 0 });
  database.exec(
    'CREATE TABLE events (task INTEGER, seq INTEGER, at INTEGER, body TEXT, PRIMARY KEY (task, seq)) STRICT',
  );
  const real = prepareEventInserts(database);
  statements = { run: 0, mixed: 0 };
  inserts = {
    run: (...values) => {
      statements.run += 1;
      return real.run(...values);
    },
    mixed: (...values) => {
      statements.mixed += 1;
      return real.mixed(...values);
    },
  };
  rows = new EventRowInserter(AT, inserts);
});

afterEach(() => database.close());

function written(task: number): unknown[][] {
  return database
    .query('SELECT seq, at, body FROM events WHERE task = ? ORDER BY seq')(task)
    .map((row) => [...row]);
}

function bodies(count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    JSON.stringify({ type: 'text.delta', text: `${index}` }),
  );
}

function numbered(texts: readonly string[], firstSeq: number): unknown[][] {
  return texts.map((text, index) => [firstSeq + index, AT, text]);
}

describe('the events of one transaction', () => {
  it.each([1, 7, 8, 1000])('%i events of a task come back in order with their seq', (count) => {
    rows.add(3, 41, bodies(count));
    rows.write();
    expect(written(3)).toEqual(numbered(bodies(count), 41));
  });

  it.each([1, 20])('events come back unchanged with any content, %i at a time', (count) => {
    const odd = JSON.stringify({ text: 'quotes " and \\ and \n, \u0000, \ud800 alone, 🙂, </script>, é' });
    const texts = Array.from({ length: count }, () => odd);
    rows.add(1, 1, texts);
    rows.write();
    expect(written(1)).toEqual(numbered(texts, 1));
  });

  it('a few events share one statement, and many events have one statement each', () => {
    rows.add(1, 1, bodies(2));
    rows.add(2, 1, bodies(2));
    rows.add(3, 1, bodies(500));
    rows.add(1, 3, bodies(1));
    rows.write();
    expect(statements).toEqual({ run: 1, mixed: 1 });
    expect(written(1)).toHaveLength(3);
    expect(written(2)).toEqual(numbered(bodies(2), 1));
    expect(written(3)).toEqual(numbered(bodies(500), 1));
  });

  it.each([2, 12])('large events use several statements: %i of 3 MB', (count) => {
    const texts = Array.from({ length: count }, (_, index) =>
      JSON.stringify(String(index).repeat(3_000_000)),
    );
    rows.add(1, 1, texts);
    rows.add(1, count + 1, texts);
    rows.write();
    expect(written(1)).toEqual(numbered([...texts, ...texts], 1));
    expect(statements.run + statements.mixed).toBeGreaterThan(1);
  });
});
