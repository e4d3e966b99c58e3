/** Describes the fields of a schema: the name, the type and the meaning of each, for a table. */
import { z } from 'zod';
import { insideOf, itemsOf, schemaFields, type Source } from './source-comments.ts';
import { code, type Row } from './markdown.ts';

type Schema = z.core.$ZodType;

/** The Markdown links of schemas that have a section of their own. */
export type SchemaLinks = ReadonlyMap<Schema, string>;

export interface DescribedSchema {
  schema: Schema;
  /** The declaration, for the doc comments. */
  source?: Source | undefined;
  links?: SchemaLinks;
  /** The names of the outer fields, e.g. `pending[].`. */
  prefix?: string;
}

/** Returns a row for each field of an object, and for each field of the objects in it. */
export function fieldRows({ schema, source, links = new Map(), prefix = '' }: DescribedSchema): Row[] {
  const def = inner(schema);
  if (def.type !== 'object') return [];
  const comments = schemaFields(source);
  return Object.entries(def.shape).flatMap(([name, field]) => {
    const { comment = '', source: declared } = comments.get(name) ?? {};
    const row = [
      `${code(prefix + name)}${mayBeAbsent(field) ? '?' : ''}`,
      typeText(field, links),
      [descriptionOf(field) ?? comment, defaultOf(field)].filter((text) => text !== '').join(' '),
    ];
    const { object, path } = objectIn(field, links);
    if (object === undefined) return [row];
    // `fieldRows` takes the source of an object. In a list, the object is the element.
    const element = path === '' ? declared : insideOf(declared);
    return [
      row,
      ...fieldRows({ schema: object, source: element, links, prefix: `${prefix}${name}${path}.` }),
    ];
  });
}

/** Returns a row for each option of a union: the value of its `type` or `role`, its other fields, its meaning. */
export function optionRows({ schema, source, links = new Map() }: DescribedSchema): Row[] {
  const def = inner(schema);
  if (def.type !== 'union') return [];
  const sources = itemsOf(insideOf(source));
  return def.options.map((option, at) => {
    const { comment = '', source: declared } = sources[at] ?? {};
    const [[, kind] = [], ...fields] = fieldRows({ schema: option, source: declared, links }).toSorted(
      ([a = ''], [b = '']) => Number(isKind(b)) - Number(isKind(a)),
    );
    const shown = fields.filter(([name = '']) => !/^`(seq|at)`$/.test(name));
    const notes = shown.flatMap(([name, , meaning]) => (meaning ? [`${name}: ${meaning}`] : []));
    return [
      kind ?? '',
      shown.map(([name, type]) => `${name} ${type}`).join(', '),
      [comment, ...notes].filter((text) => text !== '').join(' '),
    ];
  });
}

function isKind(name: string): boolean {
  return /^`(type|role)`$/.test(name);
}

export function isUnionOfObjects(schema: Schema): boolean {
  const def = inner(schema);
  return def.type === 'union' && def.options.every((option) => inner(option).type === 'object');
}

/** Returns the type in words, e.g. `list of text`. */
export function typeText(schema: Schema, links: SchemaLinks = new Map()): string {
  const link = links.get(schema);
  if (link !== undefined) return link;
  const def = defOf(schema);
  if (def.type === 'literal') return values(def.values);
  if (def.type === 'enum') return values(Object.values(def.entries));
  if (def.type === 'array') return `list of ${typeText(def.element, links)}`;
  if (def.type === 'record') return `${typeText(def.valueType, links)} by name`;
  if (def.type === 'union')
    return [...new Set(def.options.map((option) => typeText(option, links)))].join(' or ');
  if (def.type === 'nullable') return `${typeText(def.innerType, links)} or null`;
  if (def.type === 'pipe') return typeText(def.in, links);
  if ('innerType' in def) return typeText(def.innerType, links);
  const word = WORDS.get(def.type);
  if (word === undefined) throw new Error(`The reference has no words for the type "${def.type}".`);
  return word;
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['string', 'text'],
  ['number', 'number'],
  ['boolean', 'true or false'],
  ['object', 'object'],
  ['unknown', 'any JSON'],
]);

function values(each: readonly unknown[]): string {
  return each.map((value) => code(String(value))).join(', ');
}

/**
 * Returns the object schema of a field, or of the elements of its list. `path` is `[]` for a list, otherwise ''.
 * Returns no object for a schema in `links`, because another section of the page describes it.
 */
function objectIn(field: Schema, links: SchemaLinks): { object: Schema | undefined; path: string } {
  for (let schema: Schema = field, path = ''; !links.has(schema);) {
    const def = defOf(schema);
    if (def.type === 'object') return { object: schema, path };
    if (def.type === 'array') [schema, path] = [def.element, '[]'];
    else if ('innerType' in def) schema = def.innerType;
    else break;
  }
  return { object: undefined, path: '' };
}

/** Returns the definition without the wrappers for absent, null and default values. */
export function inner(schema: Schema): Definition {
  const def = defOf(schema);
  return 'innerType' in def ? inner(def.innerType) : def;
}

type Definition = z.core.$ZodTypes['_zod']['def'];

/** Gives the definition the union type of all zod definitions, because a field has only their base type. */
function defOf({ _zod: { def } }: Schema): Definition {
  return z.custom<Definition>().parse(def);
}

function mayBeAbsent({ _zod: { optin } }: Schema): boolean {
  return optin !== undefined;
}

/** Returns '' for a default that says no more than that the field may be absent. */
function defaultOf(schema: Schema): string {
  const def = defOf(schema);
  if (def.type !== 'default') return '';
  const value: unknown = def.defaultValue;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return ['', 'null', '[]', '{}', 'false'].includes(text) ? '' : `Default: ${code(text)}.`;
}

function descriptionOf(schema: Schema): string | undefined {
  const described = z.globalRegistry.get(schema)?.description;
  const def = defOf(schema);
  return described ?? ('innerType' in def ? descriptionOf(def.innerType) : undefined);
}
