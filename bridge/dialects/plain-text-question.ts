/** Computes the code of a question in a message without an extension, and finds the JSON Schema of its answer. Pure. */
import { shownCode } from '../../shared/protocol/shown-code.ts';
import { isRecord } from '../../shared/runtime/record.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

/** A question in a message. A new question has a new `id`. */
export interface PlainTextQuestion {
  id: string;
  /**
   * The code of the question. D2: a decision is valid only for what the person saw. The agent sends no code, so the
   * bridge computes it from the question.
   */
  shown: string;
  text: string;
  /**
   * The JSON Schema of the answer. Null if the question contains data without a schema. Absent if it contains no data.
   */
  form?: Readonly<Record<string, unknown>> | null;
  /** The function call of ADK that the answer responds to. Absent for other questions. */
  adkCall?: { id: string; name: string };
}

/** The keys under which agents send the schema of a form. An agent may also send the schema itself as the data. */
const SCHEMA_KEYS = ['schema', 'requestedSchema', 'jsonSchema', 'inputSchema', 'form'];

export function questionWithCode(asked: Omit<PlainTextQuestion, 'shown'>): PlainTextQuestion {
  return { ...asked, shown: shownCode(asked.id, asked.text, asked.form ?? null) };
}

/** Returns the JSON Schema in the data of a question. Returns null if there is none. */
export function questionSchemaIn(data: unknown): Readonly<Record<string, unknown>> | null {
  if (!isRecord(data)) return null;
  if (isSchema(data)) return data;
  for (const key of SCHEMA_KEYS) {
    const inner = data[key];
    if (isRecord(inner) && isSchema(inner)) return inner;
  }
  return null;
}

/** Parses an answer as a JSON object. Returns undefined if the answer is not a JSON object. */
export function answerAsJsonObject(answer: string): Record<string, unknown> | undefined {
  if (!answer.trimStart().startsWith('{')) return undefined;
  const parsed = parseJson(answer);
  return isRecord(parsed) ? parsed : undefined;
}

export function missingRequiredFields(
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
