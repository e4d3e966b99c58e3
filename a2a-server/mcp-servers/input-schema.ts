/** Checks the JSON Schema of an MCP tool, and checks inputs against it. */
import type { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { z } from 'zod';
import { messageOf } from '../../shared/runtime/errors.ts';
import { withinTimeOrRetry, TimeExceeded, withinTime } from '../../shared/runtime/time-limit.ts';
import { oneLine } from '../../shared/text/one-line.ts';

/** The maximum length as JSON, in characters; each model request contains the schema. */
const MAX_SCHEMA = 64 * 1024;
/** Time limit for a check, because a pattern of the schema can take forever. */
const CHECK_MS = 1_000;
const COMPILE_MS = 2_000;
/** The maximum length of an input error, in characters. */
const MAX_PROBLEM = 600;

type Json = Record<string, unknown>;

export interface InputSchema {
  /** The schema for the model, as the server wrote it but without `$schema`. */
  declared: Json;
  /** Checks an input without filling in defaults; the server does that. */
  schema: z.ZodType<Json>;
}

const objectSchema = z.looseObject({ type: z.literal('object') });

/**
 * Checks and compiles a schema.
 * @param engine shared by all tools of a list and released with the list
 * @throws Error with the problem, as the end of a sentence
 */
export async function readInputSchema(raw: unknown, engine: AjvJsonSchemaValidator): Promise<InputSchema> {
  const parsed = objectSchema.safeParse(raw);
  if (!parsed.success) throw new Error('its input schema does not have the type "object"');
  // Two tools can have the same `$id`, and the engine would confuse them.
  const { $id: _id, ...own } = parsed.data;
  const length = JSON.stringify(own).length;
  if (length > MAX_SCHEMA)
    throw new Error(`its input schema has ${length} characters, more than ${MAX_SCHEMA}`);
  const check = await withinTimeOrRetry(COMPILE_MS, () => engine.getValidator<Json>(own)).catch(
    (error: unknown) => {
      const why =
        error instanceof TimeExceeded ? 'it takes too long to compile' : oneLine(messageOf(error), 200);
      throw new Error(`its input schema is not valid: ${why}`, { cause: error });
    },
  );
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
    if (error instanceof TimeExceeded) return "the tool's schema takes too long to check this input";
    return messageOf(error);
  }
}
