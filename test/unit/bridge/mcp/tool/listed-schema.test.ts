import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { inputSchemaOf, outlineOutputSchema } from '../../../../../bridge/mcp/tool/listed-schema.ts';
import { toCallToolResult } from '../../../../../bridge/mcp/tool/tool-result.ts';

describe('the schemas in tools/list', () => {
  test('an input schema has each description once, and no redundant keyword', () => {
    const name = z.string().describe('The name.');
    const input = z.strictObject({
      name,
      items: z.array(z.strictObject({ name, values: z.record(z.string(), z.unknown()) })),
    });
    expect(inputSchemaOf(input)).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string', description: 'The name.' },
        items: {
          type: 'array',
          items: {
            type: 'object',
            properties: { name: { type: 'string' }, values: { type: 'object', additionalProperties: {} } },
            required: ['name', 'values'],
            additionalProperties: false,
          },
        },
      },
      required: ['name', 'items'],
      additionalProperties: false,
    });
  });

  test('an output schema has the fields of every result with their types, and a result contains no null that does not fit', () => {
    const output = z.object({
      id: z.string().nullable(),
      items: z.array(z.object({ at: z.string().nullable() })),
      state: z.enum(['a', 'b']),
      note: z.string().optional(),
    });
    expect(outlineOutputSchema(output)).toEqual({
      type: 'object',
      properties: {
        id: { type: 'string' },
        items: { type: 'array' },
        state: { type: 'string' },
      },
    });
    const structured: z.infer<typeof output> = { id: null, items: [{ at: null }], state: 'a' };
    expect(toCallToolResult({ structured, text: '' }).structuredContent).toEqual({
      items: [{}],
      state: 'a',
    });
  });

  test('a pending action’s input keeps its nulls, because the input belongs to the agent', () => {
    const structured = { pending: [{ input: { a: null }, expiresAt: null }] };
    expect(toCallToolResult({ structured, text: '' }).structuredContent).toEqual({
      pending: [{ input: { a: null } }],
    });
  });
});
