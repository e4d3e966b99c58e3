/** Explains why a value from a person or a client is invalid, in words that need no knowledge of zod. */
import type { z } from 'zod';

const EXPECTED: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

/** Formats of text, as zod names them. */
const FORMATS: Readonly<Record<string, string>> = {
  url: 'it is not a valid URL',
  datetime: 'it is not a date and time such as 2026-01-31T12:00:00Z',
  uuid: 'it is not a UUID',
};

/**
 * Returns the message for an invalid value. Callers pass this function to zod: `safeParse(value, { error:
 * inputProblem })`. If the schema has its own message, zod uses that one. The text does not contain the value, because
 * it may be a secret.
 */
export function inputProblem(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `it is missing${EXPECTED[issue.expected] === undefined ? '' : `, and must be ${EXPECTED[issue.expected]}`}`
        : `it is not ${EXPECTED[issue.expected] ?? 'allowed'}`;
    case 'too_small':
      return issue.origin === 'string' && issue.minimum === 1
        ? 'it is empty'
        : `it is too ${issue.origin === 'string' ? 'short' : 'small'}: the minimum is ${amount(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `it is too ${issue.origin === 'string' ? 'long' : 'large'}: the maximum is ${amount(issue.maximum, issue.origin)}`;
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'it does not have the right form';
    case 'unrecognized_keys':
      return `there is no ${issue.keys.map((key) => `"${key}"`).join(', ')} here`;
    case 'invalid_key':
      return 'it has a name that is not allowed';
    case 'invalid_value':
      return `it is not one of ${listOf(issue.values)}`;
    case 'invalid_union':
      return unionProblem(issue);
    case 'not_multiple_of':
      return `it is not a multiple of ${issue.divisor}`;
    case 'invalid_element':
    case 'custom':
      return 'it is not an allowed value';
  }
}

function amount(limit: number | bigint, origin: string): string {
  const unit = origin === 'string' ? ' characters' : origin === 'array' ? ' entries' : '';
  return `${limit}${unit}`;
}

function listOf(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ');
}

/**
 * Explains why a value matches no alternative of a union. If exactly one alternative has an error inside the value (in
 * a field or an entry), the person probably meant this alternative. The text then explains only this alternative.
 */
function unionProblem(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  const { options } = issue;
  if (Array.isArray(options)) return `it is not one of ${listOf(options)}`;
  const errors: readonly z.core.$ZodIssue[][] = issue.errors;
  const [meant, another] = errors.filter((form) => form.some(({ path }) => path.length > 0));
  if (meant !== undefined && another === undefined)
    return meant.map(({ path, message }) => [...path.map(String), message].join(': ')).join('; ');
  const messages = new Set(errors.flat().map(({ message }) => message));
  return meant === undefined && messages.size > 0
    ? [...messages].join(', and ')
    : 'it is not an allowed value';
}

/**
 * Formats a zod error as one line: each field path with its problem. The line contains no values, because a value may
 * be a secret.
 */
export function zodIssuesText(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length === 0 ? message : `${pathText(path)}: ${message}`))
    .join('; ');
}

/** Formats the path of a field. An index at its start becomes the number of an entry, counted from 1. */
function pathText([first, ...rest]: readonly PropertyKey[]): string {
  const start = typeof first === 'number' ? `entry ${String(first + 1)}` : String(first);
  return [start, ...rest.map(String)].join('.');
}
