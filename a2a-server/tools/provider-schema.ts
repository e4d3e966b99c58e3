/**
 * Adapts the schema of a tool's input to the rules of model providers. If a provider refuses one schema, it refuses
 * every request, because each request contains all tools. Pure.
 *
 * - OpenAI: an object schema needs `properties`.
 * - OpenAI and Anthropic: the top level must not have `oneOf`, `anyOf` or `allOf`. OpenAI also refuses `not` and `enum`.
 * - Anthropic: the names of the properties have at most 64 letters, digits, `_`, `.` and `-`.
 * - OpenAI and Google: an array schema needs `items` with one schema. A tuple has a list of schemas instead.
 * - Google: the schema of the items needs a type. A schema with several types must not have `items`.
 *
 * Many MCP servers have tools with such schemas. MCP allows them.
 */
import { isRecord } from '../../shared/runtime/record.ts';
import type { ToolDeclaration } from './tool.ts';

/**
 * The maximum length of the note that `withAcceptedSchema` adds, in characters. Each model request contains the note.
 */
const MAX_NOTE_CHARS = 8_000;

/**
 * Moves the refused keywords from the schema to the description, so that the model still reads them. The top level gets
 * the properties of all alternatives. The server still validates inputs with the whole schema.
 */
export function withAcceptedSchema(declaration: ToolDeclaration): ToolDeclaration {
  const { allOf, anyOf, oneOf, not, enum: values, ...kept } = withItems(declaration.inputSchema);
  const alternatives = [allOf, anyOf, oneOf].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  const properties = Object.entries({
    ...joinProperties(alternatives.map(propertiesOf)),
    ...propertiesOf(kept),
  });
  const refused = properties.filter(([name]) => !isAcceptedName(name));
  const inputSchema = {
    ...kept,
    properties: Object.fromEntries(properties.filter(([name]) => isAcceptedName(name))),
    ...(Array.isArray(kept['required']) && { required: kept['required'].filter(isAcceptedName) }),
    // The schema lacks the properties with refused names, so it must allow other properties. Otherwise a model whose
    // output must fit the schema could not write them.
    ...(refused.length > 0 && { additionalProperties: true }),
  };
  const moved = JSON.stringify({
    ...(refused.length > 0 && { properties: Object.fromEntries(refused), required: kept['required'] }),
    allOf,
    anyOf,
    oneOf,
    not,
    enum: values,
  });
  const note =
    moved === '{}' || moved.length > MAX_NOTE_CHARS
      ? ''
      : `\n\nThe input must also fit this JSON Schema: ${moved}`;
  return { ...declaration, description: declaration.description + note, inputSchema };
}

function propertiesOf(schema: unknown): JsonSchema {
  const own = isRecord(schema) ? schema['properties'] : undefined;
  return isRecord(own) ? own : {};
}

/** Returns the properties of all alternatives. If a property has several schemas, `anyOf` joins them. */
function joinProperties(alternatives: readonly JsonSchema[]): JsonSchema {
  const forms = new Map<string, Map<string, unknown>>();
  for (const [name, schema] of alternatives.flatMap((each) => Object.entries(each))) {
    const known = forms.get(name) ?? new Map<string, unknown>();
    forms.set(name, known.set(JSON.stringify(schema), schema));
  }
  return Object.fromEntries(
    [...forms].map(([name, known]) => {
      const [first, ...others] = known.values();
      return [name, others.length === 0 ? first : { anyOf: [first, ...others] }];
    }),
  );
}

function isAcceptedName(name: unknown): boolean {
  return typeof name === 'string' && /^[\w.-]{1,64}$/.test(name);
}

type JsonSchema = Record<string, unknown>;

/** A schema for the items of an array whose items can be anything. Google needs a type. */
const ANY_ITEM = { anyOf: ['string', 'number', 'boolean', 'object'].map((type) => ({ type })) };

/** The keywords whose values are no schemas. */
const VALUES: ReadonlySet<string> = new Set(['default', 'examples', 'enum', 'const']);

/** The keywords whose values map names to schemas. Such a name may equal a keyword, e.g. `items`. */
const SCHEMAS_BY_NAME: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

/** Gives each array schema one schema for its items. */
function withItems(schema: JsonSchema): JsonSchema {
  const complete = mapValues(schema, (value, keyword) => {
    if (VALUES.has(keyword)) return value;
    return SCHEMAS_BY_NAME.has(keyword) && isRecord(value)
      ? mapValues(value, withItemsInside)
      : withItemsInside(value);
  });
  const { prefixItems, items, ...others } = complete;
  const tuple: unknown[] | undefined = [prefixItems, items].find(Array.isArray);
  const types = [others['type']].flat();
  if (tuple === undefined && !types.includes('array')) return complete;
  const rest = Array.isArray(items) ? others['additionalItems'] : items;
  const item = tuple === undefined ? items : { anyOf: isRecord(rest) ? [...tuple, rest] : tuple };
  const accepted = hasType(item) ? item : ANY_ITEM;
  const { type: _, ...untyped } = others;
  return types.filter((type) => type !== 'null').length > 1 && others['anyOf'] === undefined
    ? { ...untyped, anyOf: types.map((type) => (type === 'array' ? { type, items: accepted } : { type })) }
    : { ...others, items: accepted };
}

function withItemsInside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withItemsInside);
  return isRecord(value) ? withItems(value) : value;
}

/** True if the schema limits the type of the value in some way. */
function hasType(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  const { anyOf } = schema;
  if (Array.isArray(anyOf)) return anyOf.length > 0 && anyOf.every(hasType);
  return ['type', '$ref', 'oneOf', 'allOf', 'enum', 'const'].some((keyword) => keyword in schema);
}

function mapValues(record: JsonSchema, map: (value: unknown, name: string) => unknown): JsonSchema {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}
