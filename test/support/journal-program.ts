/** The program of `journal-process.ts`: `<role> <path> [<uid>]`. It reports one JSON object per line. */
import { writeSync } from 'node:fs';
import { setuid } from 'node:process';
import type { AppendRequest, Journal } from '../../a2a-server/journal/journal.ts';
import { openSqliteJournal } from '../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { ProductError, errorCode } from '../../shared/runtime/errors.ts';
import type { Report, Role } from './journal-process.ts';
import { beginning, continuing, delta, working } from './journal-samples.ts';

/** The length of an event that exceeds the file size limit of the process, in UTF-16 code units. */
const TOO_MUCH = 4 * 1024 * 1024;

const TASKS = ['a', 'b', 'c', 'd', 'e'];

const roles: Record<Role, (journal: Journal) => Promise<void>> = {
  async hold() {
    report({ type: 'open' });
    // This process ends with the test, even if the test is killed.
    const parent = process.ppid;
    await new Promise(() => setInterval(() => process.ppid === parent || process.exit(), 1_000));
  },

  async stream(journal) {
    await Promise.all(TASKS.map((taskId, index) => stream(journal, taskId, index + 1)));
  },

  async once(journal) {
    await told(journal, beginning('a'));
  },

  async flood(journal) {
    await told(journal, beginning('a', { events: [working] }));
    await Promise.all([
      told(journal, beginning('beside the flood')),
      told(journal, continuing('a', 2, [delta('x'.repeat(TOO_MUCH))], 'working')),
    ]);
    await told(journal, continuing('a', 2, [delta('small')], 'working'));
    if (!journal.reachable()) throw new Error('the journal accepts appends again');
  },
};

/** Appends to the task until the process ends, several events at a time. */
async function stream(journal: Journal, taskId: string, size: number): Promise<void> {
  if ((await journal.row(taskId)) === undefined)
    await told(journal, beginning(taskId, { events: [working] }));
  for (let seq = (await journal.row(taskId))?.seq ?? 0; ; seq += size) {
    const events = Array.from({ length: size }, (_, index) => delta(`${taskId} ${seq + 1 + index}`));
    await told(journal, continuing(taskId, seq, events, 'working'));
  }
}

async function told(journal: Journal, append: AppendRequest): Promise<void> {
  try {
    const result = await journal.append(append);
    if (result.type !== 'appended') throw new Error(`${append.taskId}: ${result.type}`);
    report({ type: 'appended', taskId: append.taskId, seq: append.expectedSeq + append.events.length });
  } catch (error) {
    reportRefusal(error, journal.reachable());
  }
}

function reportRefusal(error: unknown, reachable?: boolean): void {
  if (!(error instanceof ProductError)) throw error;
  const { reason, message, facts } = error;
  const code = facts['code'] === undefined ? {} : { code: facts['code'] };
  report({ type: 'refused', reason, message, ...code, ...(reachable !== undefined && { reachable }) });
}

/**
 * Writes one report. The write is synchronous, so that reports before a SIGKILL are in the pipe. Waits while the pipe
 * is full.
 */
function report(what: Report): void {
  const line = Buffer.from(`${JSON.stringify(what)}\n`);
  for (let written = 0; written < line.length;) {
    try {
      written += writeSync(1, line, written);
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') throw error;
    }
  }
}

async function main([role, path, uid]: string[]): Promise<void> {
  if (path === undefined || (role !== 'hold' && role !== 'stream' && role !== 'once' && role !== 'flood')) {
    throw new Error('usage: <role> <path> [<uid>]');
  }
  if (uid !== undefined) setuid?.(Number(uid));
  try {
    await roles[role](await openSqliteJournal({ path, clock: Date.now }));
  } catch (error) {
    reportRefusal(error);
  }
}

await main(process.argv.slice(2));
