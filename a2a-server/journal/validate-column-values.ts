/** Validates the values of a row. @throws DamagedDataError for a value that the journal does not write */
import { DamagedDataError } from '../../shared/runtime/damaged-data-error.ts';
import { STATE_NAMES, type StateName } from '../task/snapshot.ts';

const STATES: ReadonlySet<unknown> = new Set(STATE_NAMES);

export function textColumn(value: unknown): string {
  return typeof value === 'string' ? value : throwDamaged('text', value);
}

export function nullableTextColumn(value: unknown): string | null {
  return value === null ? null : textColumn(value);
}

export function numberColumn(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : throwDamaged('a number', value);
}

export function nullableNumberColumn(value: unknown): number | null {
  return value === null ? null : numberColumn(value);
}

export function integerColumn(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : throwDamaged('an integer', value);
}

export function bytesColumn(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : throwDamaged('bytes', value);
}

export function nullableIntegerColumn(value: unknown): number | null {
  return value === null ? null : integerColumn(value);
}

export function parseStateColumn(value: unknown): StateName {
  return isState(value) ? value : throwDamaged('a task state', value);
}

function isState(value: unknown): value is StateName {
  return STATES.has(value);
}

function throwDamaged(expected: string, value: unknown): never {
  throw new DamagedDataError(`a column holds ${typeof value} where ${expected} was written`);
}
