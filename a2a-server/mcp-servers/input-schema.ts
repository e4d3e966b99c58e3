/** The JSON Schema of a tool that somebody else wrote: judged when it is listed, and asked about each input. */
import type { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { z } from 'zod';
import { messageOf } from '../../shared/errors.ts';
import { patiently, TimeExceeded, withinTime } from '../tools/bounded-time.ts';
import { oneLine } from '../tools/one-line.ts';

/** Characters of JSON; a model is sent it with every turn. */
const MAX_SCHEMA = 64 * 1024;
/** A pattern of the schema may take for ever to match. */
const CHECK_MS = 1_000;
const COMPILE_MS = 2_000;
/** Characters of what is wrong with an input. */
const MAX_PROBLEM = 600;

type Json = Record<string, unknown>;

export interface InputSchema {
  /** As the server wrote it, for the model; without the dialect, which is of no use to it. */
  declared: Json;
  /** Takes an input as it is: nothing is filled in, the server does that. */
  schema: z.ZodType<Json>;
}

const objectSchema = z.looseObject({ type: z.literal('object') });

/**
 * @param engine one for all tools of a list, so that it goes when the list does.
 * @throws Error with what is wrong with the schema, as the end of a sentence.
 */
export async function readInputSchema(raw: unknown, engine: AjvJsonSchemaValidator): Promise<InputSchema> {
  const parsed = objectSchema.safeParse(raw);
  if (!parsed.success) throw new Error('its input schema is not one of an object');
  // Two tools may well have the same `$id`, and the engine would take one for the other.
  const { $id: _id, ...own } = parsed.data;
  const length = JSON.stringify(own).length;
  if (length > MAX_SCHEMA)
    throw new Error(`its input schema has ${length} characters, more than ${MAX_SCHEMA}`);
  const check = await patiently(COMPILE_MS, () => engine.getValidator<Json>(own)).catch((error: unknown) => {
    const why = error instanceof TimeExceeded ? 'it takes too long to read' : oneLine(messageOf(error), 200);
    throw new Error(`its input schema is not valid: ${why}`, { cause: error });
  });
  const { $schema: _dialect, ...declared } = own;
  const schema = z.record(z.string(), z.unknown()).superRefine((input, context) => {
    const problem = problemOf(() => check(input).errorMessage);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: oneLine(problem, MAX_PROBLEM) });
  });
  return { declared, schema };
}

function problemOf(check: () => string | undefined): string | undefined {
  try {
    return withinTime(CHECK_MS, check);
  } catch (error) {
    if (error instanceof TimeExceeded) return 'the schema of the tool takes too long to match it';
    return messageOf(error);
  }
}
