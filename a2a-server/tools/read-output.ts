/** `read-output`: what a tool has put out, where its result left something out. */
import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { count, oneLine } from './one-line.ts';
import { textFinder } from './text-finder.ts';
import type { Tool } from './tool.ts';

const DEFAULT_CHARACTERS = 20_000;
/** Of the text given back, in UTF-16 units. */
const MAX_CHARACTERS = 50_000;
/** Places of a searched text that are shown, and how much around each. */
const MAX_PLACES = 50;
const AROUND = 200;

/**
 * What the tool execution `toolId` has put out, asked for by the tool execution `reader`; undefined where there is no such
 * thing in the reader's session.
 */
export type ReadOutput = (toolId: string, reader: string) => Promise<string | undefined>;

export const NO_OUTPUTS: ReadOutput = () => Promise.resolve(undefined);

/** Said to the model where something of an output is left out. */
export function wholeIn(toolId: string): string {
  return `[read-output with toolId ${JSON.stringify(toolId)} shows what is left out]`;
}

const schema = z.strictObject({
  toolId: z.string().min(1).max(200).describe('The tool execution, as the note in its result names it.'),
  offset: z.int().min(0).default(0).describe('First character to read, counted from 0.'),
  limit: z
    .int()
    .min(1)
    .max(MAX_CHARACTERS)
    .default(DEFAULT_CHARACTERS)
    .describe('How many characters at most.'),
  find: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe(
      'Show the places from offset on where this text stands, exactly so written, each with its offset and what is around it.',
    ),
});

export function createReadOutput(outputs: ReadOutput): Tool {
  return defineTool({
    name: 'read-output',
    description:
      'Reads what an earlier tool of this session has put out, where its result left something out: from an offset on, or the places where a text stands.',
    sideEffect: 'none',
    schema,
    timeoutMs: () => 30_000,
    title: ({ toolId }) => `Read the output of ${oneLine(toolId)}`,
    show: async (input) => ({ preview: { type: 'json', value: input }, basis: null }),
    run: async ({ toolId, offset, limit, find }, run) => {
      const text = await outputs(toolId, run.toolId);
      if (text === undefined)
        throw new Error(
          `There is no tool execution "${oneLine(toolId)}" in this session; copy its id as the note has it.`,
        );
      if (text === '')
        return { text: '[It has put out nothing.]', summary: `read the output of ${toolId} (nothing)` };
      if (offset >= text.length)
        throw new Error(
          `The output has ${count(text.length, 'character')}; offset ${offset} is beyond its end.`,
        );
      return find === undefined
        ? page(text, { toolId, offset, limit })
        : places(text, { toolId, offset, find });
    },
  });
}

function page(text: string, { toolId, offset, limit }: { toolId: string; offset: number; limit: number }) {
  const end = Math.min(offset + limit, text.length);
  const more = end < text.length ? `; go on with offset ${end}` : '';
  return {
    text: `${text.slice(offset, end)}\n[Characters ${offset} to ${end} of ${text.length}${more}]`,
    summary: `read the output of ${toolId} (${count(end - offset, 'character')} of ${text.length})`,
  };
}

function places(text: string, { toolId, offset, find }: { toolId: string; offset: number; find: string }) {
  const next = textFinder(find);
  const lines: string[] = [];
  let at = next(text, offset);
  while (at !== -1 && lines.length < MAX_PLACES) {
    const around = text.slice(Math.max(0, at - AROUND), at + find.length + AROUND);
    lines.push(`[at ${at}]\n${around}`);
    // What is shown already is not shown again for standing near.
    at = next(text, at + find.length + AROUND);
  }
  const summary = `found ${count(lines.length, 'place')} in the output of ${toolId}`;
  if (lines.length === 0) return { text: `[That text does not stand there from ${offset} on.]`, summary };
  const note = at === -1 ? [] : [`[There are more places; go on with offset ${at}]`];
  return { text: [...lines, ...note].join('\n'), summary };
}
