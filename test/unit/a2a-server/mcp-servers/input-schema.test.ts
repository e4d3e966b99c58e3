import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { describe, expect, it } from '@jest/globals';
import { readInputSchema } from '../../../../a2a-server/mcp-servers/input-schema.ts';

const read = (schema: unknown, engine = new AjvJsonSchemaValidator()) => readInputSchema(schema, engine);

describe('the input schema of an MCP tool', () => {
  it('goes to the model without $schema, and checks an input without changing it', async () => {
    const properties = { n: { type: 'integer', default: 3 }, at: { type: 'string', format: 'date' } };
    const { declared, schema } = await read({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties,
      required: ['at'],
    });
    expect(declared).toEqual({ type: 'object', properties, required: ['at'] });
    expect(schema.parse({ at: '2026-01-01' })).toEqual({ at: '2026-01-01' });
    expect(schema.safeParse({ at: 'today', n: 'x' }).error?.issues[0]?.message).toMatch(/n must be integer/);
  });

  it('is separate for two tools with the same $id', async () => {
    const engine = new AjvJsonSchemaValidator();
    const one = await read({ $id: 'same', type: 'object', required: ['a'] }, engine);
    const two = await read({ $id: 'same', type: 'object', required: ['b'] }, engine);
    expect([one.schema.safeParse({ a: 1 }).success, two.schema.safeParse({ a: 1 }).success]).toEqual([
      true,
      false,
    ]);
  });

  it('X3 can have an endless pattern: the check fails in time and does not block the server', async () => {
    const { schema } = await read({
      type: 'object',
      properties: { text: { type: 'string', pattern: '^(a+)+$' } },
    });
    const { error } = schema.safeParse({ text: `${'a'.repeat(40)}!` });
    expect(error?.issues[0]?.message).toBe("the tool's schema takes too long to check this input");
  });

  it.each([
    [{ type: 'array' }, /does not have the type "object"/],
    [undefined, /does not have the type "object"/],
    [{ type: 'object', properties: { a: { type: 'colour' } } }, /is not valid: /],
    [{ type: 'object', $schema: 'https://example.com/own' }, /is not valid: /],
  ])('is refused with a reason if it is %j', async (schema, why) => {
    await expect(read(schema)).rejects.toThrow(why);
  });
});
