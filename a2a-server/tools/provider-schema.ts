/**
 * Adapts the schema of a tool's input to the rules of model providers. One schema that a provider refuses fails every
 * request, because each request contains all tools. Pure.
 *
 * - OpenAI: an object schema needs `properties`.
 * - OpenAI and Anthropic: the top level must not have `oneOf`, `anyOf` or `allOf`. OpenAI also refuses `not` and `enum`.
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
  const { allOf, anyOf, oneOf, not, enum: values, ...kept } = declaration.inputSchema;
  const alternatives = [allOf, anyOf, oneOf].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  const properties = Object.fromEntries(
    [...alternatives, kept].flatMap((schema) => {
      const own = isRecord(schema) ? schema['properties'] : undefined;
      return isRecord(own) ? Object.entries(own) : [];
    }),
  );
  const moved = JSON.stringify({ allOf, anyOf, oneOf, not, enum: values });
  const note = moved === '{}' ? '' : `\n\nThe input must also fit this JSON Schema: ${moved}`;
  return {
    ...declaration,
    description: declaration.description + note,
    inputSchema: { ...kept, properties },
  };
}
