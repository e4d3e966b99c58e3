import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { describe, expect, it } from '@jest/globals';
import { compileInputSchema } from '../../../../a2a-server/mcp-servers/check-input.ts';
import { multiEditTool } from '../../../../a2a-server/tools/builtin/edit-file.ts';
import { parseInput } from '../../../../a2a-server/tools/toolbox.ts';

const read = (schema: unknown, engine = new AjvJsonSchemaValidator(), onTooSlow = () => undefined) =>
  compileInputSchema(schema, { engine, onTooSlow });

/** Creates a schema with this number of objects inside each other. */
function nested(objects: number): unknown {
  let schema: unknown = { type: 'object' };
  for (let each = 0; each < objects; each += 1) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

describe('the input schema of an MCP tool', () => {
  it('the model gets the schema without $schema, and a check of an input does not change the input', async () => {
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

  it('a null field that the schema refuses counts as missing, and a null field that it accepts does not', async () => {
    const text = { type: 'string' };
    const { schema } = await read({
      type: 'object',
      properties: {
        'a/b': text,
        cleared: { type: ['string', 'null'] },
        list: { type: 'array', items: { type: 'object', properties: { name: text } } },
        needed: text,
      },
      required: ['needed'],
    });
    const tool = { ...multiEditTool, schema };
    const input = { 'a/b': null, cleared: null, list: [{ name: null }], needed: 'x' };
    expect(parseInput(tool, input)).toEqual({
      ok: true,
      input: { cleared: null, list: [{}], needed: 'x' },
    });
    expect(parseInput(tool, { needed: null, list: null })).toEqual({
      ok: false,
      message: "The input of multi-edit does not fit: data must have required property 'needed'.",
    });
  });

  it('two tools with the same $id have separate schemas', async () => {
    const engine = new AjvJsonSchemaValidator();
    const one = await read({ $id: 'same', type: 'object', required: ['a'] }, engine);
    const two = await read({ $id: 'same', type: 'object', required: ['b'] }, engine);
    expect([one.schema.safeParse({ a: 1 }).success, two.schema.safeParse({ a: 1 }).success]).toEqual([
      true,
      false,
    ]);
  });

  it('X3 if a pattern in the schema never ends, checks stop after two time-outs, and the operator gets one report', async () => {
    const slow: string[] = [];
    const schema = { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } };
    const one = await read(schema, undefined, () => void slow.push('one'));
    const other = await read(schema, undefined, () => void slow.push('other'));
    const endless = { text: `${'a'.repeat(40)}!` };
    expect(one.schema.safeParse({ text: '!' }).success).toBe(false);
    const before = process.cpuUsage();
    for (let call = 0; call < 20; call += 1) expect(one.schema.safeParse(endless).success).toBe(true);
    // `cpuUsage` counts in microseconds. One check without the limit needs hours, and 20 checks of 1 s need 20 s.
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
    expect(slow).toEqual(['one']);
    expect(one.schema.safeParse({ text: 3 }).success).toBe(true);
    expect(one.schema.safeParse('no object').success).toBe(false);
    expect(other.schema.safeParse({ text: '!' }).success).toBe(false);
  });

  it.each([
    [{ type: 'array' }, /does not have the type "object"/],
    [undefined, /does not have the type "object"/],
    [{ type: 'object', properties: { a: { type: 'colour' } } }, /is not valid: /],
    [{ type: 'object', $schema: 'https://example.com/own' }, /is not valid: /],
  ])('a schema is refused with a reason if it is %j', async (schema, why) => {
    await expect(read(schema)).rejects.toThrow(why);
  });

  it('X3 a schema is refused if it is so deep that it could overflow the stack', async () => {
    await expect(read(nested(1_500))).rejects.toThrow(/has more than 200 levels/);
    expect(await read(nested(90))).toMatchObject({ declared: nested(90) });
  });
});
