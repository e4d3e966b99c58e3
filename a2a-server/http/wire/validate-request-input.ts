import type { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { inputProblem, zodIssuesText } from '../../../shared/text/input-problem.ts';

/** Validates an input of a client. @throws the error that `refusal` creates from the problems */
export function parseOrRefuse<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  refusal: (issues: string) => ProductError,
): z.output<Schema> {
  const parsed = schema.safeParse(input, { error: inputProblem });
  if (parsed.success) return parsed.data;
  throw refusal(zodIssuesText(parsed.error));
}

/**
 * Validates an input of a request, such as its query, its body or its parameters.
 * @param rule says what the input must be; the error adds what is wrong
 * @throws ProductError MALFORMED
 */
export function validateRequestInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  rule: string,
): z.output<Schema> {
  return parseOrRefuse(schema, input, (issues) => new ProductError('MALFORMED', `${rule}: ${issues}.`));
}
