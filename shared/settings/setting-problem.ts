/** Explains why the value of a setting is invalid, in words that need no knowledge of zod. */
import type { z } from 'zod';

const EXPECTED: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/**
 * Returns the message for an invalid value. Callers pass this function to zod: `safeParse(value, { error:
 * settingProblem })`. If the schema has its own message, zod uses that one. The text does not contain the value,
 * because it may be a secret.
 */
export function settingProblem(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'it is missing'
        : `it is not ${EXPECTED[issue.expected] ?? 'allowed'}`;
    case 'too_small':
      return `it is too ${issue.origin === 'string' ? 'short' : 'small'}`;
    case 'too_big':
      return `it is too ${issue.origin === 'string' ? 'long' : 'large'}`;
    case 'invalid_format':
      return issue.format === 'url' ? 'it is not a valid URL' : 'it does not have the right form';
    case 'unrecognized_keys':
      return `there is no ${issue.keys.map((key) => `"${key}"`).join(', ')} here`;
    case 'invalid_key':
      return 'it has a name that is not allowed';
    case 'invalid_value':
      return `it is not one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'invalid_element':
    case 'invalid_union':
    case 'not_multiple_of':
    case 'custom':
      return 'it is not an allowed value';
  }
}
