import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { inputProblem, zodIssuesText } from '../../../../shared/text/input-problem.ts';

function problemOf(schema: z.ZodType, value: unknown): string {
  const { error } = schema.safeParse(value, { error: inputProblem });
  return error === undefined ? '' : zodIssuesText(error);
}

const decision = z.union([z.object({ decision: z.literal('approve'), shown: z.string() }), z.string()]);

describe('the words about an invalid input', () => {
  it.each<[z.ZodType, unknown, string]>([
    [z.object({ pageSize: z.number() }), { pageSize: '5' }, 'pageSize: it is not a number'],
    [z.object({ id: z.string() }), {}, 'id: it is missing, and must be text'],
    [z.strictObject({}), { idd: 1 }, 'there is no "idd" here'],
    [z.string().min(1), '', 'it is empty'],
    [z.string().min(8), 'a', 'it is too short: the minimum is 8 characters'],
    [z.array(z.string()).max(2), ['a', 'b', 'c'], 'it is too large: the maximum is 2 entries'],
    [z.int().min(3), 1, 'it is too small: the minimum is 3'],
    [z.enum(['a', 'b']), 'c', 'it is not one of "a", "b"'],
    [z.string().regex(/^a/, 'expected base64'), 'b', 'expected base64'],
    [z.iso.datetime(), 'x', 'it is not a date and time such as 2026-01-31T12:00:00Z'],
    [z.union([z.string(), z.array(z.string())]), 5, 'it is not text, and it is not a list'],
    [z.array(decision), [{ decision: 'approve' }], 'entry 1: shown: it is missing, and must be text'],
    [
      z.discriminatedUnion('type', [z.object({ type: z.literal('a') }), z.object({ type: z.literal('b') })]),
      { type: 'c' },
      'type: it is not one of "a", "b"',
    ],
  ])('name the field and what is expected: %#', (schema, value, text) => {
    expect(problemOf(schema, value)).toBe(text);
  });

  it('never contain the value', () => {
    const secret = 'hush-0123456789';
    for (const schema of [z.number(), z.url(), z.enum(['a']), z.string().max(3), z.literal(5)])
      expect(problemOf(schema, secret)).not.toContain(secret);
  });
});
