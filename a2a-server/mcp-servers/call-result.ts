/** Converts the result of an MCP tool to text and files for a model (MCP 2025-11-25, Tools: Tool Result). */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isDeeperThan } from '../runtime/is-deeper-than.ts';
import { fileMediaTypeOf, maxFileBytes } from '../../shared/protocol/attached-file.ts';
import { oneLineExcerpt } from '../../shared/text/one-line.ts';
import { parseJson } from '../../shared/text/parse-json.ts';
import { filePlaceholderLine } from '../task/stored-file.ts';
import type { ToolResultFile } from '../tools/tool.ts';

const text = z.object({ type: z.literal('text'), text: z.string() });
const media = z.object({ type: z.enum(['image', 'audio']), data: z.string(), mimeType: z.string() });
const link = z.object({
  type: z.literal('resource_link'),
  uri: z.string(),
  name: z.string().optional(),
  description: z.string().optional(),
});
const resource = z.object({
  type: z.literal('resource'),
  resource: z.object({
    uri: z.string(),
    mimeType: z.string().optional(),
    text: z.string().optional(),
    blob: z.string().optional(),
  }),
});
const block = z.discriminatedUnion('type', [text, media, link, resource]);
type Block = z.infer<typeof block>;

/** Accepts any content. Later, a note replaces each invalid block, and the other blocks stay. */
export const mcpServerToolResultSchema = z.looseObject({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
});
export type McpServerToolResult = z.infer<typeof mcpServerToolResultSchema>;

/**
 * The largest structured content that is shown with indentation. X3: indentation would turn a few deep lists into
 * hundreds of megabytes.
 */
const MAX_INDENTED = { chars: 100_000, depth: 20 };

/** The maximum number of blocks of one result. X3: a message of the maximum size may have millions. */
const MAX_BLOCKS = 10_000;

/** The maximum size of all files of one result, in bytes. A note replaces each further file. */
const MAX_FILE_BYTES = 10_000_000;

/** Returns the text, which is never empty, and the files that a model can read. */
export function mcpResultForModel({ content, structuredContent }: McpServerToolResult): {
  text: string;
  files: ToolResultFile[];
} {
  const blocks = content.slice(0, MAX_BLOCKS).map((raw) => block.safeParse(raw).data);
  const files: ToolResultFile[] = [];
  let left = MAX_FILE_BYTES;
  const parts = blocks.map((known) => {
    if (known === undefined) return '[content of an unknown type]';
    const file = fileOf(known);
    if (file === undefined || file.bytes.length > left) return told(known);
    left -= file.bytes.length;
    files.push(file);
    return filePlaceholderLine({ ...file, bytes: file.bytes.length });
  });
  if (content.length > MAX_BLOCKS) parts.push(`[${content.length - MAX_BLOCKS} further blocks, not shown]`);
  if (structuredContent !== undefined) {
    const json = jsonOf(structuredContent);
    if (json === undefined) parts.push('[structured content that is nested too deep]');
    else if (!blocks.some((known) => says(known, { structuredContent, json })))
      parts.push(indented(structuredContent, json));
  }
  const whole = parts.join('\n');
  return { text: whole.trim() === '' ? '[no output]' : whole, files };
}

/** Returns the file of a block. The bytes decide the media type, because the server's media type may be wrong. */
function fileOf(known: Block): ToolResultFile | undefined {
  const base64 =
    known.type === 'image' ? known.data : known.type === 'resource' ? known.resource.blob : undefined;
  if (base64 === undefined) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  const mediaType = fileMediaTypeOf(bytes);
  if (mediaType === undefined || bytes.length > maxFileBytes(mediaType)) return undefined;
  return {
    bytes,
    mediaType,
    ...(known.type === 'resource' && { name: oneLineExcerpt(known.resource.uri, 200) }),
  };
}

function told(known: Block): string {
  switch (known.type) {
    case 'text':
      return known.text;
    case 'image':
    case 'audio':
      return `[${known.type}, ${oneLineExcerpt(known.mimeType, 60)}, ${bytesOf(known.data)} bytes, not shown]`;
    case 'resource_link':
      return `[resource ${known.uri}${known.name === undefined ? '' : `, ${known.name}`}]${
        known.description === undefined ? '' : ` ${known.description}`
      }`;
    case 'resource': {
      const { uri, mimeType = 'of an unknown type', text: inside, blob = '' } = known.resource;
      if (inside !== undefined) return `[resource ${uri}]\n${inside}`;
      return `[resource ${uri}, ${oneLineExcerpt(mimeType, 60)}, ${bytesOf(blob)} bytes, not shown]`;
    }
  }
}

/** Returns undefined for content that is nested too deep for JSON. */
function jsonOf(structured: unknown): string | undefined {
  try {
    return JSON.stringify(structured) ?? '';
  } catch {
    return undefined;
  }
}

function indented(structured: unknown, json: string): string {
  return isSmall(structured, json) ? (JSON.stringify(structured, null, 2) ?? '') : json;
}

function isSmall(structured: unknown, json: string): boolean {
  return json.length <= MAX_INDENTED.chars && !isDeeperThan(structured, MAX_INDENTED.depth);
}

/**
 * True if the text block already contains the structured content. MCP: "For backwards compatibility, a tool that
 * returns structured content SHOULD also return the serialized JSON". X3: a text that is shorter than the JSON is not
 * parsed, because a result may have thousands of blocks. In small content, the fields may have another order. Large
 * content is compared as JSON text, because the time of `isDeepStrictEqual` grows with the square of the depth.
 */
function says(
  known: Block | undefined,
  { structuredContent, json }: { structuredContent: unknown; json: string },
): boolean {
  if (known?.type !== 'text' || known.text.length < json.length) return false;
  const said = parseJson(known.text);
  return (
    jsonOf(said) === json || (isSmall(structuredContent, json) && isDeepStrictEqual(said, structuredContent))
  );
}

function bytesOf(base64: string): number {
  return Buffer.byteLength(base64, 'base64');
}
