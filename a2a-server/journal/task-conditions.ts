/** Builds the condition of a query for tasks. */
import type { JournalTaskFilter, OwnerFilter } from './journal.ts';
import { isStorableText } from './prepared-append.ts';
import type { AddValue, SqlDialect, SqlValue } from './sql-dialect.ts';

/** Collects the conditions of a query, and the values of their parameters. */
export class Conditions {
  readonly values: SqlValue[] = [];
  readonly #conditions: string[] = [];

  get sql(): string {
    return this.#conditions.join(' AND ');
  }

  readonly value: AddValue = (added) => `$${this.values.push(added)}`;

  add(condition: string): void {
    this.#conditions.push(condition);
  }

  /** Adds the condition that an expression has this value. If the database cannot store the value, no row matches. */
  addEqual(expression: string, text: string): void {
    this.add(isStorableText(text) ? `${expression} = ${this.value(text)}` : 'FALSE');
  }
}

/** Returns the condition that selects the owner's tasks. */
export function ownerConditions({ principal, tenant }: OwnerFilter, dialect: SqlDialect): Conditions {
  const conditions = new Conditions();
  if (tenant === undefined) conditions.addEqual('principal', principal);
  else conditions.add(dialect.isOfTenant(conditions.value(`${tenant}/`)));
  return conditions;
}

export function filterConditions(filter: JournalTaskFilter, dialect: SqlDialect): Conditions {
  const { sessionId, idPrefixes, states, updatedSince, text, workspace, model } = filter;
  const conditions = ownerConditions(filter, dialect);
  const { value } = conditions;
  if (idPrefixes !== undefined)
    conditions.add(idBeginsWith(idPrefixes.filter(isStorableText), { owner: conditions.sql, value }));
  if (sessionId !== undefined) conditions.addEqual('session_id', sessionId);
  if (states !== undefined)
    conditions.add(states.length === 0 ? 'FALSE' : `state IN (${states.map(value).join(', ')})`);
  if (updatedSince !== undefined) conditions.add(`updated_at >= ${value(Math.ceil(updatedSince))}`);
  if (model !== undefined) conditions.addEqual('model', model);
  if (workspace !== undefined) conditions.addEqual(dialect.workspace, workspace);
  if (text !== undefined) conditions.add(isStorableText(text) ? dialect.hasText(text, value) : 'FALSE');
  return conditions;
}

/**
 * Returns the condition that a session id or a task id begins with one of the prefixes. For each prefix, the condition
 * has one range of session ids and one range of task ids. So the database can use its indexes.
 */
function idBeginsWith(
  prefixes: readonly string[],
  { owner, value }: { owner: string; value: AddValue },
): string {
  const ranges = prefixes.flatMap((prefix) => {
    // No id contains the last code point. The range therefore contains every id with this prefix.
    const [from, to] = [value(prefix), value(`${prefix}\u{10FFFF}`)];
    return [
      `SELECT key FROM tasks WHERE ${owner} AND session_id >= ${from} AND session_id < ${to}`,
      `SELECT key FROM tasks WHERE task_id >= ${from} AND task_id < ${to}`,
    ];
  });
  return ranges.length === 0 ? 'FALSE' : `key IN (${ranges.join(' UNION ')})`;
}

/** Returns the pattern of LIKE for all texts that contain this text. The escape character is the backslash. */
export function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, String.raw`\$&`)}%`;
}
