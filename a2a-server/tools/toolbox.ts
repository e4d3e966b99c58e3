/** The tools an agent has, by name. */
import { z } from 'zod';
import type { ToolDeclaration } from '../models/model.ts';
import { isReadOnly } from '../task/snapshot.ts';
import { inputProblem } from './input-problem.ts';
import type { Tool } from './tool.ts';

export interface Toolbox {
  get(name: string): Tool | undefined;
  /** Those a model is told of, in the order they were given; those of a supply come after them. */
  names(): string[];
  /** What a model is told of the tools. @param readOnly only those without side effects. */
  declarations(options?: { readOnly?: boolean }): ToolDeclaration[];
  /** Why a call of a tool that is not there comes to nothing, for the model. */
  absence(name: string): string;
  /** Resolves as soon as what supplies tools has had its time to start, or the signal aborts. */
  settled(signal: AbortSignal): Promise<void>;
}

/** Tools that come and go, e.g. those of MCP servers. No name is that of a tool of the toolbox itself. */
export interface ToolSupply {
  get(name: string): Tool | undefined;
  /** As of now. */
  tools(): readonly Tool[];
  /** A sentence for a name that could be one of its own; undefined for any other. */
  whyAbsent(name: string): string | undefined;
  settled(signal: AbortSignal): Promise<void>;
}

const NO_SUPPLY: ToolSupply = {
  get: () => undefined,
  tools: () => [],
  whyAbsent: () => undefined,
  settled: () => Promise.resolve(),
};

/** Names that are told to a model that asked for another. */
const MAX_NAMES = 40;

/** @throws Error when two tools have one name. */
export function createToolbox(tools: readonly Tool[], supply: ToolSupply = NO_SUPPLY): Toolbox {
  const own = new Map(tools.map((tool) => [tool.name, tool]));
  if (own.size !== tools.length) throw new Error('two tools have the same name');
  // Made once for each tool: a list that has not changed has the same ones.
  const declarations = new WeakMap<Tool, ToolDeclaration>();
  const declared = (tool: Tool): ToolDeclaration => {
    const known = declarations.get(tool) ?? declarationOf(tool);
    declarations.set(tool, known);
    return known;
  };
  const offered = (): Tool[] =>
    [...tools, ...supply.tools()].filter(({ commandOnly }) => commandOnly !== true);
  const names = (): string[] => offered().map(({ name }) => name);
  return {
    get: (name) => own.get(name) ?? supply.get(name),
    names,
    declarations: ({ readOnly = false } = {}) =>
      offered()
        .filter((tool) => !readOnly || isReadOnly(tool))
        .map(declared),
    absence: (name) => {
      const why = supply.whyAbsent(name);
      const known = names();
      const more = known.length > MAX_NAMES ? ` and ${known.length - MAX_NAMES} more` : '';
      const listed = `Tools: ${known.slice(0, MAX_NAMES).join(', ')}${more}.`;
      return `There is no tool ${name}.${why === undefined ? '' : ` ${why}`} ${listed}`;
    },
    settled: (signal) => supply.settled(signal),
  };
}

function declarationOf({ name, description, schema, inputSchema: given }: Tool): ToolDeclaration {
  if (given !== undefined) return { name, description, inputSchema: given };
  // As the model writes it: a field with a default may be left out. The dialect is of no use to a model.
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(schema, { io: 'input' });
  return { name, description, inputSchema };
}

export type ParsedInput =
  | { ok: true; input: Record<string, unknown> }
  /** For the model: it names the fields. */
  | { ok: false; message: string };

const object = z.record(z.string(), z.unknown());

/** Checks what a model or a person wrote against the tool's schema (D4), and fills in defaults. */
export function parseInput(tool: Tool, input: unknown): ParsedInput {
  if (!object.safeParse(input).success) {
    return { ok: false, message: `The input of ${tool.name} must be a JSON object.` };
  }
  const parsed = tool.schema.pipe(object).safeParse(input);
  return parsed.success
    ? { ok: true, input: parsed.data }
    : { ok: false, message: inputProblem(tool.name, parsed.error) };
}
