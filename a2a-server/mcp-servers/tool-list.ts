/**
 * Reads the tool list of an MCP server with size limits. The list is untrusted, so it must not block the process (X3),
 * and each model request contains it.
 */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import { ellipsize } from '../../shared/text/shortened-text.ts';
import { oneLineExcerpt } from '../../shared/text/one-line.ts';
import { compileInputSchema, type InputCheckOptions, type CompiledInputSchema } from './check-input.ts';

/** The maximum number of tools. More tools would fill the model's context window. */
const MAX_TOOLS = 500;
/** The maximum number of pages. A normal list with the maximum number of tools has fewer pages. */
const MAX_PAGES = 200;
/** The maximum number of tools before the settings select some of them. */
const MAX_LISTED_TOOLS = 20_000;
const MAX_DESCRIPTION_CHARS = 4_000;
const MAX_TOOL_NAME_CHARS = 256;
const MAX_PROBLEMS_TO_NAME = 5;

export const toolPageSchema = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional(),
});
type ToolPage = z.infer<typeof toolPageSchema>;

const listedTool = z.looseObject({
  name: z.string().min(1).max(MAX_TOOL_NAME_CHARS),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.unknown().optional(),
  annotations: z
    .looseObject({
      title: z.string().optional(),
      readOnlyHint: z.boolean().optional(),
      idempotentHint: z.boolean().optional(),
    })
    .optional(),
});

export interface McpToolDefinition extends CompiledInputSchema {
  name: string;
  description: string;
  /** The hints of the server. They have an effect only if the operator trusts the MCP server. */
  hints: { readOnly: boolean; idempotent: boolean };
}

export interface ToolList {
  definitions: McpToolDefinition[];
  /** Sentences about some omitted tools, with the reasons. */
  problems: string[];
}

export type ToolPredicate = (name: string) => boolean;

/**
 * Reads all pages of a list.
 * @param read requests one page
 * @throws the error of `read`; Error if the list has too many pages
 */
export async function readToolList(
  read: (cursor: string | undefined) => Promise<ToolPage>,
  { wanted, log }: { wanted: ToolPredicate; log: Logger },
): Promise<ToolList> {
  const listed: unknown[] = [];
  const cursors = new Set<string>();
  for (let cursor: string | undefined, pages = 0; ; pages += 1) {
    if (pages === MAX_PAGES) throw new Error(`its list of tools has more than ${MAX_PAGES} pages`);
    const { tools, nextCursor } = await read(cursor);
    listed.push(...tools);
    if (listed.length > MAX_LISTED_TOOLS) throw new Error(`it lists more than ${MAX_LISTED_TOOLS} tools`);
    if (nextCursor === undefined) return checkTools(listed, wanted, log);
    if (cursors.has(nextCursor)) throw new Error('its list of tools repeats a page');
    cursors.add((cursor = nextCursor));
  }
}

async function checkTools(listed: readonly unknown[], wanted: ToolPredicate, log: Logger): Promise<ToolList> {
  const engine = new AjvJsonSchemaValidator();
  const definitions = new Map<string, McpToolDefinition>();
  const problems: string[] = [];
  let over = 0;
  for (const raw of listed) {
    const parsed = listedTool.safeParse(raw);
    if (!parsed.success) {
      problems.push('a tool without a usable name is omitted');
      continue;
    }
    const { name } = parsed.data;
    if (!wanted(name)) continue;
    if (definitions.has(name))
      problems.push(`it lists ${quotedName(name)} twice; only the first one is used`);
    else if (definitions.size === MAX_TOOLS) over += 1;
    else
      try {
        definitions.set(
          name,
          await toToolDefinition(parsed.data, { engine, onTooSlow: () => warnTooSlow(log, name) }),
        );
      } catch (error) {
        problems.push(`${quotedName(name)} is omitted: ${errorMessageOf(error)}`);
      }
    // This wait lets other work run between two schemas.
    await nextTurn();
  }
  if (over > 0)
    problems.unshift(
      `it has ${MAX_TOOLS + over} tools, and the limit is ${MAX_TOOLS}; choose some with "tools": {"include": […]}`,
    );
  return { definitions: [...definitions.values()], problems: fewOf(problems) };
}

async function toToolDefinition(
  { name, title, description, annotations, inputSchema }: z.infer<typeof listedTool>,
  checking: InputCheckOptions,
): Promise<McpToolDefinition> {
  const words = description ?? title ?? annotations?.title ?? '';
  return {
    name,
    description: ellipsize(words, MAX_DESCRIPTION_CHARS),
    hints: {
      readOnly: annotations?.readOnlyHint === true,
      idempotent: annotations?.idempotentHint === true,
    },
    ...(await compileInputSchema(inputSchema, checking)),
  };
}

function warnTooSlow(log: Logger, tool: string): void {
  log.warn(
    { tool },
    "the schema of an MCP tool takes too long to check an input; from now on only the MCP server checks this tool's inputs",
  );
}

function fewOf(problems: string[]): string[] {
  const more = problems.length - MAX_PROBLEMS_TO_NAME;
  return more <= 1 ? problems : [...problems.slice(0, MAX_PROBLEMS_TO_NAME), `and ${more} more problems`];
}

function quotedName(name: string): string {
  return `"${oneLineExcerpt(name, 80)}"`;
}
