import { z } from 'zod';
import { isReadOnlyCall } from '../task/snapshot.ts';
import { withAcceptedSchema } from './provider-schema.ts';
import { type Tool, type ToolDeclaration, inputIssuesText } from './tool.ts';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import { isRecord } from '../../shared/runtime/record.ts';
import { inputProblem } from '../../shared/text/input-problem.ts';
import { oneLineExcerpt } from '../../shared/text/one-line.ts';

export interface Toolbox {
  get(name: string): Tool | undefined;
  /** Returns the names of the tools that models see. The tools of a supply (`ToolSupply`) come last. */
  names(): string[];
  /**
   * Returns the tool declarations for a model, in a fixed order. Providers cache a prompt only if its start stays the
   * same.
   * @param readOnly true for only the tools without side effects
   */
  declarations(options?: { readOnly?: boolean }): ToolDeclaration[];
  /** Returns a sentence for a model that called a missing tool. */
  absence(name: string): string;
  /**
   * Resolves when the supply of tools, e.g. the MCP servers, has started. Also resolves when the time limit of the
   * start is over, or when the signal aborts.
   */
  settled(signal: AbortSignal): Promise<void>;
}

/** A changing set of tools, for example from MCP servers. A supply never uses the name of a built-in tool. */
export interface ToolSupply {
  get(name: string): Tool | undefined;
  tools(): readonly Tool[];
  /** Explains why the tool is missing, if its name could belong to this supply. Otherwise returns undefined. */
  whyAbsent(name: string): string | undefined;
  settled(signal: AbortSignal): Promise<void>;
}

const NO_SUPPLY: ToolSupply = {
  get: () => undefined,
  tools: () => [],
  whyAbsent: () => undefined,
  settled: () => Promise.resolve(),
};

/** The error for an unknown tool lists at most this many names. */
const MAX_NAMES = 40;

/** Joins fixed tools and a changing supply of tools. @throws Error if two tools have the same name */
export function createToolbox(tools: readonly Tool[], supply: ToolSupply = NO_SUPPLY): Toolbox {
  const own = new Map(tools.map((tool) => [tool.name, tool]));
  if (own.size !== tools.length) throw new Error('two tools have the same name');
  const declarations = new WeakMap<Tool, ToolDeclaration>();
  const declared = (tool: Tool): ToolDeclaration => {
    const known = declarations.get(tool) ?? withAcceptedSchema(toToolDeclaration(tool));
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
        .filter((tool) => !readOnly || isReadOnlyCall(tool))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
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

export function toToolDeclaration({ name, description, schema, inputSchema: given }: Tool): ToolDeclaration {
  if (given !== undefined) return { name, description, inputSchema: given };
  // `io: 'input'` makes a field with a default optional. Models do not need `$schema`.
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(schema, { io: 'input' });
  return { name, description, inputSchema };
}

type ParsedInput = { ok: true; input: Record<string, unknown> } | { ok: false; message: string };

const object = z.record(z.string(), z.unknown());

/**
 * D4: checks input from a model or a person against the tool's schema. Fills in defaults. Some models, e.g. of OpenAI,
 * write null for an optional field that they do not use. If the schema refuses this null, the field counts as missing.
 */
export function parseInput(tool: Tool, input: unknown): ParsedInput {
  const written = object.safeParse(input);
  if (!written.success)
    return { ok: false, message: `The input of ${tool.name} must be a JSON object${syntaxProblem(input)}.` };
  const schema = tool.schema.pipe(object);
  const first = schema.safeParse(written.data, { error: inputProblem });
  if (first.success) return { ok: true, input: first.data };
  const kept = withoutRefusedNulls(written.data, first.error);
  const parsed = schema.safeParse(kept, { error: inputProblem });
  return parsed.success
    ? { ok: true, input: parsed.data }
    : { ok: false, message: inputIssuesText(tool.name, parsed.error) };
}

/** Returns a copy of the input without the fields that are null and that the schema refuses. */
function withoutRefusedNulls(
  input: Record<string, unknown>,
  { issues }: z.ZodError,
): Record<string, unknown> {
  const copy = structuredClone(input);
  for (const { path } of issues) {
    const [name, ...inside] = path.toReversed();
    const parent = inside.reduceRight<unknown>((value, key) => Reflect.get(Object(value), key), copy);
    if (name !== undefined && isRecord(parent) && parent[String(name)] === null) delete parent[String(name)];
  }
  return copy;
}

/** Returns the syntax error of a text that is no JSON, so that the model can correct it. */
function syntaxProblem(input: unknown): string {
  if (typeof input !== 'string') return '';
  try {
    JSON.parse(input);
    return '';
  } catch (error) {
    return `, but it has a syntax error: ${oneLineExcerpt(errorMessageOf(error), 200)}`;
  }
}
