import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { countWithNoun, oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { createSubstringFinder } from '../search/find-substring.ts';
import type { Tool } from '../tool.ts';

const DEFAULT_CHARACTERS = 20_000;
const MAX_CHARACTERS = 50_000;
const MAX_MATCHES = 50;
const CONTEXT_CHARACTERS = 200;

/**
 * Returns the output of the tool execution `toolId`. `reader` is the id of the `read-output` execution itself. Returns
 * undefined if the execution is not in the reader's session.
 */
export type ReadToolOutput = (toolId: string, reader: string) => Promise<string | undefined>;

export const NO_TOOL_OUTPUTS: ReadToolOutput = () => Promise.resolve(undefined);

/** Returns a note for the model. A result that omits a part of the output contains this note. */
export function readOutputHint(toolId: string): string {
  return `[read-output with toolId ${JSON.stringify(toolId)} shows the omitted part]`;
}

const schema = z.strictObject({
  toolId: z.string().min(1).max(200).describe('The id of the tool execution, from the note in its result.'),
  offset: z.int().min(0).default(0).describe('First character to read, counted from 0.'),
  limit: z
    .int()
    .min(1)
    .max(MAX_CHARACTERS)
    .default(DEFAULT_CHARACTERS)
    .describe('The maximum number of characters.'),
  find: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe('Show each exact match of this text from offset on, with its offset and the text around it.'),
});

export function createReadOutputTool(outputs: ReadToolOutput): Tool {
  return defineTool({
    name: 'read-output',
    description:
      'Reads the full output of an earlier tool execution of this session, when its result omits a part. Reads from an offset, or shows the matches of a text.',
    sideEffect: 'none',
    schema,
    timeoutMs: () => 30_000,
    title: ({ toolId }) => `Read the output of ${oneLineExcerpt(toolId)}`,
    show: async (input) => ({ preview: { type: 'json', value: input }, basis: null }),
    run: async ({ toolId, offset, limit, find }, run) => {
      const text = await outputs(toolId, run.toolId);
      if (text === undefined)
        throw new Error(
          `There is no tool execution "${oneLineExcerpt(toolId)}" in this session; copy the id from the note in the result.`,
        );
      if (text === '')
        return { text: '[The tool wrote no output.]', summary: `read the output of ${toolId} (nothing)` };
      if (offset >= text.length)
        throw new Error(
          `The output has ${countWithNoun(text.length, 'character')}; offset ${offset} is beyond its end.`,
        );
      return find === undefined
        ? outputPage(text, { toolId, offset, limit })
        : findInOutput(text, { toolId, offset, find });
    },
  });
}

function outputPage(
  text: string,
  { toolId, offset, limit }: { toolId: string; offset: number; limit: number },
) {
  const end = Math.min(offset + limit, text.length);
  const more = end < text.length ? `; go on with offset ${end}` : '';
  return {
    text: `${text.slice(offset, end)}\n[Characters ${offset} to ${end} of ${text.length}${more}]`,
    summary: `read the output of ${toolId} (${countWithNoun(end - offset, 'character')} of ${text.length})`,
  };
}

function findInOutput(
  text: string,
  { toolId, offset, find }: { toolId: string; offset: number; find: string },
) {
  const next = createSubstringFinder(find);
  const lines: string[] = [];
  let at = next(text, offset);
  while (at !== -1 && lines.length < MAX_MATCHES) {
    const around = text.slice(Math.max(0, at - CONTEXT_CHARACTERS), at + find.length + CONTEXT_CHARACTERS);
    lines.push(`[at ${at}]\n${around}`);
    // The search goes on after the text around this match, because that text already shows the matches in it.
    at = next(text, at + find.length + CONTEXT_CHARACTERS);
  }
  const summary = `found ${countWithNoun(lines.length, 'place')} in the output of ${toolId}`;
  if (lines.length === 0)
    return { text: `[The output does not contain that text from offset ${offset} on.]`, summary };
  const note = at === -1 ? [] : [`[There are more places; go on with offset ${at}]`];
  return { text: [...lines, ...note].join('\n'), summary };
}
