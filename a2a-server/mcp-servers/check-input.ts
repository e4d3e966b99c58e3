/** Validates the JSON Schema of an MCP tool, and validates inputs against this schema. */
import type { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { z } from 'zod';
import { isDeeperThan } from '../runtime/is-deeper-than.ts';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import { runWithinTimeWithRetry, TimeExceededError, runWithinTime } from '../runtime/sync-time-limit.ts';
import { oneLineExcerpt } from '../../shared/text/one-line.ts';

/** The maximum length of a schema as JSON, in characters. Each model request contains the schema. */
const MAX_SCHEMA_CHARS = 64 * 1024;
/**
 * The time limit of one validation. A bad pattern in a schema could block the server forever. A usual validation takes
 * less than 1 ms.
 */
const CHECK_MS = 100;
/** The time limit to compile a schema. On a slow machine, the longest schemas take more than a second. */
const COMPILE_MS = 2_000;
const MAX_ERROR_CHARS = 600;
/** The maximum depth of a schema. A deeper one could overflow the stack wherever the server or a provider reads it. */
const MAX_SCHEMA_LEVELS = 200;

type Json = Record<string, unknown>;

export interface CompiledInputSchema {
  /** The input schema that the MCP server declares, without `$schema`. The model gets it. */
  declared: Json;
  /**
   * Validates an input. Adds no defaults, because the MCP server adds them. After a validation that is too slow,
   * accepts every object, because the MCP server validates its input too. If the schema refuses a null, the path of the
   * issue names that field. Any other issue has an empty path, because its message contains the path.
   */
  schema: z.ZodType<Json>;
}

export interface InputCheckOptions {
  engine: AjvJsonSchemaValidator;
  /** Called once if the validation of an input takes too long. Later inputs are not validated. */
  onTooSlow: () => void;
}

const objectSchema = z.looseObject({ type: z.literal('object') });

/**
 * Validates and compiles a schema.
 * @throws Error whose message is the end of a sentence
 */
export async function compileInputSchema(
  raw: unknown,
  { engine, onTooSlow }: InputCheckOptions,
): Promise<CompiledInputSchema> {
  const parsed = objectSchema.safeParse(raw);
  if (!parsed.success) throw new Error('its input schema does not have the type "object"');
  // If two tools have the same `$id`, the engine confuses their schemas. So the schema loses its `$id`.
  const { $id: _id, ...own } = parsed.data;
  if (isDeeperThan(own, MAX_SCHEMA_LEVELS))
    throw new Error(`its input schema has more than ${MAX_SCHEMA_LEVELS} levels`);
  const length = JSON.stringify(own).length;
  if (length > MAX_SCHEMA_CHARS)
    throw new Error(`its input schema has ${length} characters, more than ${MAX_SCHEMA_CHARS}`);
  const check = await runWithinTimeWithRetry(COMPILE_MS, () => engine.getValidator<Json>(own)).catch(
    (error: unknown) => {
      const why =
        error instanceof TimeExceededError
          ? 'it takes too long to compile'
          : oneLineExcerpt(errorMessageOf(error), 200);
      throw new Error(`its input schema is not valid: ${why}`, { cause: error });
    },
  );
  const { $schema: _dialect, ...declared } = own;
  const problemOf = untilTooSlow((input: Json) => check(input).errorMessage, onTooSlow);
  const schema = z.record(z.string(), z.unknown()).superRefine((input, context) => {
    const problem = problemOf(input);
    if (problem === undefined) return;
    const message = oneLineExcerpt(problem, MAX_ERROR_CHARS);
    const refused = refusedPointers(problem);
    const nulls = nullFields(input, MAX_SCHEMA_LEVELS).filter((path) => refused.has(pointerOf(path)));
    for (const path of nulls.length === 0 ? [[]] : nulls) context.addIssue({ code: 'custom', message, path });
  });
  return { declared, schema };
}

/** Returns the paths of the fields that are null, up to this number of levels. An entry of an array is no field. */
function nullFields(value: unknown, levels: number): string[][] {
  if (typeof value !== 'object' || value === null || levels === 0) return [];
  return Object.entries(value).flatMap(([name, inside]: [string, unknown]) => {
    if (inside === null) return Array.isArray(value) ? [] : [[name]];
    return nullFields(inside, levels - 1).map((path) => [name, ...path]);
  });
}

/**
 * Returns the JSON Pointers in a message of the engine: `/n` and `/m` in "data/n must be integer, data/m must be …".
 */
function refusedPointers(problem: string): ReadonlySet<string> {
  const parts = problem.split(/(?:^|, )data(?=[/ ])/);
  return new Set(parts.map((part) => part.slice(0, Math.max(0, part.indexOf(' must ')))));
}

/** Writes a path as the engine does: as a JSON Pointer (RFC 6901 §3). */
function pointerOf(path: readonly string[]): string {
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Ends all validations after one input has exceeded the time limit twice. A busy machine may cause one slow run. */
function untilTooSlow(check: (input: Json) => string | undefined, onTooSlow: () => void): typeof check {
  let isTooSlow = false;
  return (input) => {
    if (isTooSlow) return undefined;
    for (let tries = 0; tries < 2; tries += 1) {
      try {
        return runWithinTime(CHECK_MS, () => check(input));
      } catch (error) {
        if (!(error instanceof TimeExceededError)) return errorMessageOf(error);
      }
    }
    isTooSlow = true;
    onTooSlow();
    return undefined;
  };
}
