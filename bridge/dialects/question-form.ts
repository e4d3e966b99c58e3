/** A question that an agent asks, and what its answer has to look like. Pure. */
import { shownCode } from '../../shared/protocol/shown-code.ts';

/** A question in plain words. `id` tells a new question from one that was answered. */
export interface Question {
  id: string;
  /** The code of what is asked. The agent sends none: the bridge makes it from what it shows (D2). */
  shown: string;
  text: string;
  /** The JSON Schema that an answer in data has to fit; null where the question came with data and no schema. */
  form?: Readonly<Record<string, unknown>> | null;
}

/** Where agents that send a form put its schema; the data part may also be the schema itself. */
const SCHEMA_KEYS = ['schema', 'requestedSchema', 'jsonSchema', 'inputSchema', 'form'];

/** A question with its code. */
export function questionWith(asked: Omit<Question, 'shown'>): Question {
  return { ...asked, shown: shownCode(asked.id, asked.text, asked.form ?? null) };
}

/** The schema in what came with a question; null when there is none. */
export function schemaIn(data: unknown): Readonly<Record<string, unknown>> | null {
  if (!isRecord(data)) return null;
  if (isSchema(data)) return data;
  for (const key of SCHEMA_KEYS) {
    const inner = data[key];
    if (isRecord(inner) && isSchema(inner)) return inner;
  }
  return null;
}

/** The answer as data; undefined when it is in words. */
export function answerAsData(answer: string): Record<string, unknown> | undefined {
  if (!answer.trimStart().startsWith('{')) return undefined;
  try {
    const parsed: unknown = JSON.parse(answer);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** The names that the schema requires and the data does not have. */
export function missingFrom(
  data: Readonly<Record<string, unknown>>,
  schema: Readonly<Record<string, unknown>>,
): readonly string[] {
  const { required } = schema;
  return Array.isArray(required)
    ? required.filter((name): name is string => typeof name === 'string' && !Object.hasOwn(data, name))
    : [];
}

function isSchema(value: Readonly<Record<string, unknown>>): boolean {
  return value['type'] === 'object' && isRecord(value['properties']);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
