/**
 * Adapts the schema of a tool's input to the rules of model providers. One schema that a provider refuses fails every
 * request, because each request contains all tools. Pure.
 *
 * - OpenAI: an object schema needs `properties`.
 * - OpenAI and Anthropic: the top level must not have `oneOf`, `anyOf` or `allOf`. OpenAI also refuses `not` and `enum`.
 * - Anthropic: the names of the properties have at most 64 letters, digits, `_`, `.` and `-`.
 * - OpenAI and Google: an array schema needs `items` with one schema. A tuple has a list of schemas instead.
 *
 * Many MCP servers have tools with such schemas. MCP allows them.
 */
import { isRecord } from '../../shared/runtime/record.ts';
import type { ToolDeclaration } from './tool.ts';

/**
 * Moves the refused keywords from the schema to the description, so that the model still reads them. The top level gets
 * the properties of all alternatives. The server still validates inputs with the whole schema.
 */
export function withAcceptedSchema(declaration: ToolDeclaration): ToolDeclaration {
  const { allOf, anyOf, oneOf, not, enum: values, ...kept } = withItems(declaration.inputSchema);
  const alternatives = [allOf, anyOf, oneOf].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  const properties = [...alternatives, kept].flatMap((schema) => {
    const own = isRecord(schema) ? schema['properties'] : undefined;
    return isRecord(own) ? Object.entries(own) : [];
  });
  const inputSchema = {
    ...kept,
    properties: Object.fromEntries(properties.filter(([name]) => isAcceptedName(name))),
    ...(Array.isArray(kept['required']) && { required: kept['required'].filter(isAcceptedName) }),
  };
  const refused = properties.filter(([name]) => !isAcceptedName(name));
  const moved = JSON.stringify({
    ...(refused.length > 0 && { properties: Object.fromEntries(refused), required: kept['required'] }),
    allOf,
    anyOf,
    oneOf,
    not,
    enum: values,
  });
  const note = moved === '{}' ? '' : `\n\nThe input must also fit this JSON Schema: ${moved}`;
  return { ...declaration, description: declaration.description + note, inputSchema };
}

function isAcceptedName(name: unknown): boolean {
  return typeof name === 'string' && /^[\w.-]{1,64}$/.test(name);
}

type JsonSchema = Record<string, unknown>;

/** A schema for the items of an array whose items can be anything. Google needs a type. */
const ANY_ITEM = { anyOf: ['string', 'number', 'boolean', 'object'].map((type) => ({ type })) };

/** The keywords whose values are no schemas. */
const VALUES: ReadonlySet<string> = new Set(['default', 'examples', 'enum', 'const']);

/** Adds `items` to each array schema that has none. */
function withItems(schema: JsonSchema): JsonSchema {
  const complete: JsonSchema = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, VALUES.has(name) ? value : withItemsInside(value)]),
  );
  const { prefixItems, items, type } = complete;
  const tuple = [prefixItems, items].find(Array.isArray);
  if (tuple !== undefined) {
    const { prefixItems: _, ...rest } = complete;
    return { ...rest, items: { anyOf: tuple } };
  }
  return [type].flat().includes('array') && !isRecord(items) ? { ...complete, items: ANY_ITEM } : complete;
}

function withItemsInside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withItemsInside);
  return isRecord(value) ? withItems(value) : value;
}
