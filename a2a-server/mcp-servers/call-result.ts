/** Converts the result of an MCP tool to text for a model (MCP 2025-11-25, Tools: Tool Result). */
import { stringify } from 'safe-stable-stringify';
import { z } from 'zod';
import { oneLine } from '../../shared/text/one-line.ts';

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
const block = z.union([text, media, link, resource]);
type Block = z.infer<typeof block>;

/** Accepts unknown content on purpose. An invalid block becomes a note, and the other blocks stay unchanged. */
export const callResultSchema = z.looseObject({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
});
export type McpCallResult = z.infer<typeof callResultSchema>;

/** Converts a result to text, which is never empty. */
export function resultText({ content, structuredContent }: McpCallResult): string {
  const blocks = content.map((raw) => block.safeParse(raw).data);
  const parts = blocks.map((known) => (known === undefined ? '[content of an unknown type]' : told(known)));
  if (structuredContent !== undefined && !blocks.some((known) => says(known, structuredContent)))
    parts.push(JSON.stringify(structuredContent, null, 2) ?? '');
  const whole = parts.join('\n');
  return whole.trim() === '' ? '[no output]' : whole;
}

function told(known: Block): string {
  switch (known.type) {
    case 'text':
      return known.text;
    case 'image':
    case 'audio':
      return `[${known.type}, ${oneLine(known.mimeType, 60)}, ${bytesOf(known.data)} bytes, not shown]`;
    case 'resource_link':
      return `[resource ${known.uri}${known.name === undefined ? '' : `, ${known.name}`}]${
        known.description === undefined ? '' : ` ${known.description}`
      }`;
    case 'resource': {
      const { uri, mimeType = 'of an unknown type', text: inside, blob = '' } = known.resource;
      if (inside !== undefined) return `[resource ${uri}]\n${inside}`;
      return `[resource ${uri}, ${oneLine(mimeType, 60)}, ${bytesOf(blob)} bytes, not shown]`;
    }
  }
}

/**
 * True if the text block already contains the structured content, so that a second copy is unnecessary. MCP: "For
 * backwards compatibility, a tool that returns structured content SHOULD also return the serialized JSON".
 */
function says(known: Block | undefined, structured: unknown): boolean {
  if (known?.type !== 'text') return false;
  try {
    return stringify(JSON.parse(known.text)) === stringify(structured);
  } catch {
    return false;
  }
}

function bytesOf(base64: string): number {
  return Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
}
