/**
 * Converts the schemas of a tool for `tools/list`. Many clients put this list into the context of their model, so each
 * byte costs tokens. Pure.
 */
import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import { z } from 'zod';

export type ListedToolSchema = ListedTool['inputSchema'];

const listedSchema = z.custom<ListedToolSchema>();

/**
 * The keywords that are left out. Here `propertyNames` only demands names that are strings. A schema without `$schema`
 * is JSON Schema 2020-12 (MCP 2025-11-25, tools).
 */
const REDUNDANT: ReadonlySet<string> = new Set(['$schema', 'propertyNames']);

/** Converts an input schema. Leaves out redundant keywords and repeated descriptions. */
export function inputSchemaOf(input: z.ZodObject): ListedToolSchema {
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

/**
 * The converted output schemas. Several tools share a schema, and a conversion delays the bridge's start by
 * milliseconds, so each schema is converted once.
 */
const outlines = new WeakMap<z.ZodObject, ListedToolSchema>();

/**
 * Converts an output schema: returns only the required fields of a result and their types. The types inside lists and
 * objects are left out. Clients validate results against this schema. `docs/mcp-tools.md` describes the inner fields.
 */
export function outlineOutputSchema(output: z.ZodObject): ListedToolSchema {
  const outline = outlines.get(output) ?? outlineOf(output);
  outlines.set(output, outline);
  return outline;
}

const field = z.object({ type: z.union([z.string(), z.array(z.string())]).optional() });

function outlineOf(output: z.ZodObject): ListedToolSchema {
  const { properties = {}, required = [] } = z.toJSONSchema(output, {
    target: 'draft-2020-12',
    io: 'output',
  });
  const fields = Object.entries(properties)
    .filter(([name]) => required.includes(name))
    .map(([name, schema]) => [name, typeOnly(schema)]);
  return listedSchema.parse({ type: 'object', properties: Object.fromEntries(fields) });
}

/** Returns the type of a field. The type null is left out, because a result omits fields that are null. */
function typeOnly(schema: unknown): { type?: string } {
  const { type = [] } = field.parse(schema);
  const named = [type].flat().find((each) => each !== 'null');
  return named === undefined ? {} : { type: named };
}
