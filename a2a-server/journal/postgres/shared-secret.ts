/** Keeps secrets that all servers of one database use, such as the key that signs receipts. */
import { textColumn } from '../columns.ts';
import type { Queries } from './driver.ts';

/** The first server decides. If several servers insert at the same time, one of them is the first. */
export async function sharedSecret(database: Queries, name: string, own: string): Promise<string> {
  await database.query(
    { text: 'INSERT INTO shared_secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING' },
    [name, own],
  );
  const [[value] = []] = await database.query({ text: 'SELECT value FROM shared_secrets WHERE name = $1' }, [
    name,
  ]);
  return textColumn(value);
}
