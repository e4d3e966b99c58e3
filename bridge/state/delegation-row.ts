/** Converts an outbox entry to a row of the table `delegations`, and back. Pure. */
import { z } from 'zod';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import type { SqliteValue } from '../../shared/sqlite/driver.ts';
import type { SqlRow } from '../../shared/state/sql-row.ts';
import { SqliteError } from '../../shared/sqlite/driver.ts';
import { delegationStateSchema, type OutboxEntry, outboxEntrySchema } from './outbox-entry.ts';

export const DELEGATION_COLUMNS = [
  'message_id',
  'owner',
  'agent',
  'created_at',
  'state',
  'task_id',
  'session_id',
  'problem',
  'title',
  'work',
  'cancel',
  'answered',
  'ended',
] as const;
type Column = (typeof DELEGATION_COLUMNS)[number];

/** The fields of the message. They are the same in every attempt. */
const work = outboxEntrySchema.pick({
  text: true,
  settings: true,
  command: true,
  files: true,
  trace: true,
  delegatedIn: true,
  sessionId: true,
  taskId: true,
});

export function toDelegationRow(entry: OutboxEntry, owner: string): SqliteValue[] {
  const { state, text, settings, command, files, trace, delegatedIn, sessionId, taskId } = entry;
  const named = state.type === 'accepted' || state.type === 'collected' ? state : undefined;
  const values: Record<Column, SqliteValue> = {
    message_id: entry.messageId,
    owner,
    agent: entry.agent,
    created_at: entry.createdAt,
    state: state.type,
    task_id: named?.taskId ?? null,
    session_id: named?.sessionId ?? null,
    problem: state.type === 'lost' ? state.message : null,
    title: entry.title,
    work: JSON.stringify({ text, settings, command, files, trace, delegatedIn, sessionId, taskId }),
    cancel: entry.cancel,
    answered: entry.answered ? 1 : 0,
    ended: state.type === 'collected' ? state.ended : null,
  };
  return DELEGATION_COLUMNS.map((column) => values[column]);
}

/**
 * Converts a row to an outbox entry.
 * @throws SqliteError if the row is damaged
 */
export function toOutboxEntry(row: SqlRow): OutboxEntry {
  const value = (column: Column): unknown => row[DELEGATION_COLUMNS.indexOf(column)];
  try {
    return outboxEntrySchema.parse({
      ...work.parse(JSON.parse(String(value('work')))),
      messageId: value('message_id'),
      agent: value('agent'),
      createdAt: value('created_at'),
      title: value('title'),
      cancel: value('cancel'),
      answered: value('answered') === 1,
      state: delegationStateSchema.parse({
        type: value('state'),
        taskId: value('task_id'),
        sessionId: value('session_id'),
        message: value('problem'),
        ended: value('ended'),
      }),
    });
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    throw new SqliteError('SQLITE_CORRUPT', `a delegation is not readable: ${errorMessageOf(error)}`, error);
  }
}
