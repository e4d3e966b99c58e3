/** Converts an outbox entry to a row of `delegations`, and back. Pure. */
import { z } from 'zod';
import { messageOf } from '../../shared/runtime/errors.ts';
import type { Row, SqlValue } from '../../shared/sqlite/driver.ts';
import { SqliteFailure } from '../../shared/sqlite/driver.ts';
import { delegationState, type OutboxEntry, outboxEntry } from './outbox-entry.ts';

export const COLUMNS = [
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
type Column = (typeof COLUMNS)[number];

/** The fields of the message: every attempt sends the same. */
const work = outboxEntry.pick({ text: true, settings: true, command: true, sessionId: true, taskId: true });

export function rowOf(entry: OutboxEntry, owner: string): SqlValue[] {
  const { state, text, settings, command, sessionId, taskId } = entry;
  const named = state.type === 'accepted' || state.type === 'collected' ? state : undefined;
  const values: Record<Column, SqlValue> = {
    message_id: entry.messageId,
    owner,
    agent: entry.agent,
    created_at: entry.createdAt,
    state: state.type,
    task_id: named?.taskId ?? null,
    session_id: named?.sessionId ?? null,
    problem: state.type === 'lost' ? state.message : null,
    title: entry.title,
    work: JSON.stringify({ text, settings, ...(command && { command }), sessionId, taskId }),
    cancel: entry.cancel,
    answered: entry.answered ? 1 : 0,
    ended: state.type === 'collected' ? state.ended : null,
  };
  return COLUMNS.map((column) => values[column]);
}

/** @throws SqliteFailure when the row is damaged */
export function entryOf(row: Row): OutboxEntry {
  const value = (column: Column): unknown => row[COLUMNS.indexOf(column)];
  try {
    return outboxEntry.parse({
      ...work.parse(JSON.parse(String(value('work')))),
      messageId: value('message_id'),
      agent: value('agent'),
      createdAt: value('created_at'),
      title: value('title'),
      cancel: value('cancel'),
      answered: value('answered') === 1,
      state: delegationState.parse({
        type: value('state'),
        taskId: value('task_id'),
        sessionId: value('session_id'),
        message: value('problem'),
        ended: value('ended'),
      }),
    });
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    throw new SqliteFailure('SQLITE_CORRUPT', `a delegation is not readable: ${messageOf(error)}`, error);
  }
}
