/**
 * Converts a tool's schemas for `tools/list`. Many clients put this list into their model's context, so each byte costs
 * tokens. Pure.
 */
import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import { z } from 'zod';

export type ListedSchema = ListedTool['inputSchema'];

const listedSchema = z.custom<ListedSchema>();

/**
 * Every JSON object meets these keywords. A schema without `$schema` is JSON Schema 2020-12 (MCP 2025-11-25, tools).
 */
const REDUNDANT: ReadonlySet<string> = new Set(['$schema', 'propertyNames']);

/** Converts an input schema, without redundant keywords and repeated descriptions. */
export function inputSchemaOf(input: z.ZodObject): ListedSchema {
  const schema = z.toJSONSchema(input, { target: 'draft-2020-12', io: 'input' });
  const given = new Set<unknown>();
  const isGiven = (key: string, value: unknown): boolean => {
    if (key !== 'description') return false;
    if (given.has(value)) return true;
    given.add(value);
    return false;
  };
  const written = JSON.stringify(schema, (key, value: unknown) =>
    REDUNDANT.has(key) || isGiven(key, value) ? undefined : value,
  );
  return listedSchema.parse(JSON.parse(written));
}

/** Several tools share an output schema. Its conversion delays the bridge's start by milliseconds, so it runs once. */
const outlines = new WeakMap<z.ZodObject, ListedSchema>();

/**
 * Returns the fields that every result has, with their types. The types inside lists and objects are omitted. Clients
 * validate results against this schema. `docs/mcp-tools.md` describes the inner fields.
 */
export function outputSchemaOf(output: z.ZodObject): ListedSchema {
  const outline = outlines.get(output) ?? outlineOf(output);
  outlines.set(output, outline);
  return outline;
}

const field = z.object({ type: z.union([z.string(), z.array(z.string())]).optional() });

function outlineOf(output: z.ZodObject): ListedSchema {
  const { properties = {}, required = [] } = z.toJSONSchema(output, {
    target: 'draft-2020-12',
    io: 'output',
  });
  const fields = Object.entries(properties)
    .filter(([name]) => required.includes(name))
    .map(([name, schema]) => [name, typeOnly(schema)]);
  return listedSchema.parse({ type: 'object', properties: Object.fromEntries(fields) });
}

/** A result omits fields that are null, so the schema omits the type null. */
function typeOnly(schema: unknown): { type?: string } {
  const { type = [] } = field.parse(schema);
  const named = [type].flat().find((each) => each !== 'null');
  return named === undefined ? {} : { type: named };
}
