/**
 * Copies parameters of a tool call to HTTP headers (MCP 2026-07-28, Streamable HTTP, Custom Headers from Tool
 * Parameters). Pure.
 */
import { z } from 'zod';

const ANNOTATION = 'x-mcp-header';
const PRIMITIVES: ReadonlySet<unknown> = new Set(['integer', 'string', 'boolean']);
/** A header name must be a `token` (RFC 9110 §5.6.2). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
/** The maximum depth of a schema. Real schemas are less deep. */
const MAX_DEPTH = 64;

const json = z.record(z.string(), z.unknown());

export interface ParamHeader {
  header: string;
  /** The property names that lead from the input to the parameter. */
  path: readonly string[];
}

/**
 * Reads the annotations of an input schema.
 * @throws Error for an annotation that MCP does not allow. Its message is the end of a sentence.
 */
export function readParamHeaders(schema: Record<string, unknown>): readonly ParamHeader[] {
  const found = findParamHeaders(schema, []);
  if (found.length !== countAnnotations(schema, 0))
    throw new Error(`it has "${ANNOTATION}" at a place other than a property of the input`);
  const names = new Set(found.map(({ header }) => header.toLowerCase()));
  if (names.size !== found.length) throw new Error(`two of its properties have the same "${ANNOTATION}"`);
  return found;
}

/** Returns the headers of one tool call. An absent or null parameter has no header. */
export function paramHeaders(
  params: readonly ParamHeader[],
  input: Record<string, unknown>,
): Record<string, string> {
  return Object.fromEntries(
    params.flatMap(({ header, path }) => {
      const value = path.reduce<unknown>((within, name) => json.safeParse(within).data?.[name], input);
      const isPrimitive =
        typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
      return isPrimitive ? [[`Mcp-Param-${header}`, encodeHeaderValue(String(value))]] : [];
    }),
  );
}

function findParamHeaders(schema: Record<string, unknown>, path: readonly string[]): ParamHeader[] {
  if (path.length > MAX_DEPTH) return [];
  const properties = json.safeParse(schema['properties']).data ?? {};
  return Object.entries(properties).flatMap(([name, raw]) => {
    const property = json.safeParse(raw).data;
    if (property === undefined) return [];
    const below = findParamHeaders(property, [...path, name]);
    const header = property[ANNOTATION];
    if (header === undefined) return below;
    if (typeof header !== 'string' || !TOKEN.test(header))
      throw new Error(`its "${ANNOTATION}" is not a valid header name`);
    if (!PRIMITIVES.has(property['type']))
      throw new Error(`its "${ANNOTATION}" is on a property that is not an integer, a string or a boolean`);
    return [{ header, path: [...path, name] }, ...below];
  });
}

/**
 * Counts the annotations at any depth. A property with the same name as the annotation does not count, because its
 * value is a schema.
 */
function countAnnotations(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH * 2) return 0;
  return Object.entries(value).reduce(
    (sum, [key, inner]) =>
      sum + (key === ANNOTATION && typeof inner !== 'object' ? 1 : countAnnotations(inner, depth + 1)),
    0,
  );
}

/**
 * Encodes a header value (MCP, "Value Encoding"). Base64 replaces a value that a header cannot contain unchanged, and a
 * value that looks encoded.
 */
function encodeHeaderValue(value: string): string {
  const isPlain = /^[\x20-\x7E\t]*$/.test(value) && value.trim() === value && value !== '';
  const looksEncoded = value.startsWith('=?base64?') && value.endsWith('?=');
  return isPlain && !looksEncoded ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}
