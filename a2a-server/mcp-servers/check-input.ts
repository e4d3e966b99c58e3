/** Checks the JSON Schema of an MCP tool, and checks inputs against it. */
import type { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { z } from 'zod';
import { messageOf } from '../../shared/runtime/errors.ts';
import { withinTimeOrRetry, TimeExceeded, withinTime } from '../../shared/runtime/time-limit.ts';
import { oneLine } from '../../shared/text/one-line.ts';

/**
 * The maximum length of a schema as JSON, in characters. The limit exists because each model request has the schema.
 */
const MAX_SCHEMA = 64 * 1024;
/**
 * The time limit of a check. A bad pattern in a schema could block the server forever. A usual check takes below 1 ms.
 */
const CHECK_MS = 100;
/** The time limit to compile a schema. The longest schemas take more than a second on a slow machine. */
const COMPILE_MS = 2_000;
/** The maximum length of an input error, in characters. */
const MAX_PROBLEM = 600;

type Json = Record<string, unknown>;

export interface InputSchema {
  /** The schema for the model, as the server wrote it but without `$schema`. */
  declared: Json;
  /**
   * Checks an input. Does not add defaults, because the MCP server adds them. If the check is too slow, the schema
   * accepts each object, because the MCP server checks its input too.
   */
  schema: z.ZodType<Json>;
}

export interface Checking {
  /** Shared by all tools of a list and released with the list. */
  engine: AjvJsonSchemaValidator;
  /** Called once if the check of an input takes too long. After that, this schema checks no inputs. */
  onTooSlow: () => void;
}

const objectSchema = z.looseObject({ type: z.literal('object') });

/**
 * Checks and compiles a schema.
 * @throws Error whose message is the end of a sentence
 */
export async function readInputSchema(raw: unknown, { engine, onTooSlow }: Checking): Promise<InputSchema> {
  const parsed = objectSchema.safeParse(raw);
  if (!parsed.success) throw new Error('its input schema does not have the type "object"');
  // Remove `$id`. If two tools have the same `$id`, the engine confuses their schemas.
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
  const problemOf = untilTooSlow((input: Json) => check(input).errorMessage, onTooSlow);
  const schema = z.record(z.string(), z.unknown()).superRefine((input, context) => {
    const problem = problemOf(input);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: oneLine(problem, MAX_PROBLEM) });
  });
  return { declared, schema };
}

/** Stops all checks when one input exceeds the time limit twice. One slow run may come from a busy machine. */
function untilTooSlow(check: (input: Json) => string | undefined, onTooSlow: () => void): typeof check {
  let isTooSlow = false;
  return (input) => {
    if (isTooSlow) return undefined;
    for (let tries = 0; tries < 2; tries += 1) {
      try {
        return withinTime(CHECK_MS, () => check(input));
      } catch (error) {
        if (!(error instanceof TimeExceeded)) return messageOf(error);
      }
    }
    isTooSlow = true;
    onTooSlow();
    return undefined;
  };
}
