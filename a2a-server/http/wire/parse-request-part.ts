import type { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { inputProblem, zodIssuesText } from '../../../shared/text/input-problem.ts';

/**
 * Validates a part of a request, such as its query or its body.
 * @param rule says what the part must be; the error adds what is wrong
 * @throws ProductError MALFORMED
 */
export function parseRequestPart<Schema extends z.ZodType>(
  schema: Schema,
  part: unknown,
  rule: string,
): z.output<Schema> {
  const parsed = schema.safeParse(part, { error: inputProblem });
  if (parsed.success) return parsed.data;
  throw new ProductError('MALFORMED', `${rule}: ${zodIssuesText(parsed.error)}.`);
}
