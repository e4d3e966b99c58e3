/** `a2a-server audit` prints the log of administrative actions. The server may be running. */
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { createAuditLog, type AuditRecordWithChanges } from '../../audit/audit-log.ts';
import type { CommandOutput } from './command-output.ts';
import type { RecordStorePlace } from '../settings/read-settings.ts';
import { withRecords } from './with-records.ts';

/** Prints the log of administrative actions, the oldest first. @throws ProductError CONFIGURATION, STORAGE */
export async function printAudit(
  place: RecordStorePlace,
  json: boolean,
  { say, sayJson, note }: CommandOutput,
): Promise<void> {
  const { records, damaged } = await withRecords(place, (stored) => createAuditLog(stored).read());
  for (const record of records)
    if (json) sayJson(record);
    else say(textOf(record));
  if (damaged > 0) note(`${damaged} records are damaged and were left out.`);
  if (records.length === 0 && !json) note('There are no administrative actions.');
}

function textOf({ at, user, host, act, ...facts }: AuditRecordWithChanges): string {
  const said = Object.entries(facts).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const by = host === undefined ? `by ${user}` : `by ${user} on ${host}`;
  return [at, act, ...said, by].map((part) => visibleLine(part)).join('  ');
}
