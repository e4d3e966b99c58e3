/** Tests the report of `verify` about the contents of files. */
import { expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteJournal } from '../../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { verifyJournal } from '../../../../../a2a-server/journal/sqlite/verify-journal.ts';
import type { TaskEvent } from '../../../../../a2a-server/task/events.ts';
import { openSqlite } from '../../../../../shared/sqlite/driver.ts';
import { beginning, toolStarted, working } from '../../../../support/journal-samples.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const contentOf = (text: string): { hash: string; bytes: Buffer } => {
  const bytes = Buffer.from(text);
  return { hash: createHash('sha256').update(bytes).digest('hex'), bytes };
};
const attached = contentOf('attached');
const returned = contentOf('returned');
const before = contentOf('before');
const after = contentOf('after');

const fileOf = ({ hash, bytes }: { hash: string; bytes: Buffer }) => ({
  hash,
  bytes: bytes.length,
  mediaType: 'image/png',
});
const stateOf = ({ hash, bytes }: { hash: string; bytes: Buffer }) => ({
  type: 'content' as const,
  hash,
  bytes: bytes.length,
});

const events: readonly TaskEvent[] = [
  {
    type: 'message.received',
    channel: 'test',
    message: { messageId: 'm', parts: [{ type: 'stored-file', file: fileOf(attached) }] },
  },
  working,
  toolStarted('x'),
  {
    type: 'files.saved',
    callId: 'call',
    toolId: 'x',
    files: [{ path: 'a.txt', before: stateOf(before), after: stateOf(after) }],
  },
  {
    type: 'tool.finished',
    callId: 'call',
    tool: 'wait',
    title: 'Wait',
    toolId: 'x',
    outcome: { type: 'ok', text: '', summary: '', files: [fileOf(returned)] },
  },
];

const problem = (hash: string): string =>
  `Task one names the content ${hash} of a file, and the journal does not have it.`;

it('verify reports each content of a file that the events name and the journal does not have', async () => {
  const path = join(await temporaryDirectory(), 'journal.db');
  const journal = await openSqliteJournal({ path, clock: () => 1 });
  await journal.append({ ...beginning('one', { events }), contents: [attached, returned, before] });
  await journal.append(beginning('two'));
  await journal.close();
  expect(verifyJournal(path)).toMatchObject({ contents: 3, problems: [] });
  const database = openSqlite(path, { busyTimeoutMs: 1_000 });
  database.exec(`DELETE FROM contents WHERE hash <> '${attached.hash}'`);
  database.close();
  expect(verifyJournal(path).problems.toSorted()).toEqual(
    [problem(before.hash), problem(returned.hash)].toSorted(),
  );
});

it('an empty file is refused as empty, not as the journal of another version', async () => {
  const path = join(await temporaryDirectory(), 'journal.db');
  await writeFile(path, '');
  expect(() => verifyJournal(path)).toThrow(`There is no journal in ${path}: the file is empty.`);
});
