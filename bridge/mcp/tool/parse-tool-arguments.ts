/** Parses the arguments of a tool call. Pure. */
import type { z } from 'zod';
import { isRecord } from '../../../shared/runtime/record.ts';
import { inputProblem } from '../../../shared/text/input-problem.ts';

/**
 * Parses the arguments with the tool's schema. Some clients, such as CrewAI, send null for an optional argument that
 * the model left out. Some models write an empty text. If the schema refuses such a value, it counts as missing.
 */
export function parseToolArguments<Input extends z.ZodObject>(
  schema: Input,
  given: unknown,
): z.ZodSafeParseResult<z.output<Input>> {
  const parse = (value: unknown): z.ZodSafeParseResult<z.output<Input>> =>
    schema.safeParse(value, { error: inputProblem });
  const asGiven = parse(given);
  if (asGiven.success) return asGiven;
  const refused = new Set(asGiven.error.issues.map(({ path }) => JSON.stringify(path)));
  const withoutUnused = parse(withoutRefusedBlanks(given, refused, []));
  return withoutUnused.success ? withoutUnused : asGiven;
}

/** Removes the fields that are null or '' and that the schema refuses. @param refused the paths, as JSON */
function withoutRefusedBlanks(
  value: unknown,
  refused: ReadonlySet<string>,
  path: readonly PropertyKey[],
): unknown {
  if (Array.isArray(value))
    return value.map((each: unknown, index) => withoutRefusedBlanks(each, refused, [...path, index]));
  if (!isRecord(value)) return value;
  const isKept = ([name, it]: [string, unknown]): boolean =>
    (it !== null && it !== '') || !refused.has(JSON.stringify([...path, name]));
  return Object.fromEntries(
    Object.entries(value)
      .filter(isKept)
      .map(([name, it]) => [name, withoutRefusedBlanks(it, refused, [...path, name])]),
  );
}
