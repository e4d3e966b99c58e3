/** The tools an agent has, by name. */
import { z } from 'zod';
import type { ToolDeclaration } from '../models/model.ts';
import { isReadOnly } from '../task/snapshot.ts';
import { inputProblem } from './input-problem.ts';
import type { Tool } from './tool.ts';

export interface Toolbox {
  get(name: string): Tool | undefined;
  /** Those a model is told of, in the order they were given. */
  names(): string[];
  /** What a model is told of the tools. @param readOnly only those without side effects. */
  declarations(options?: { readOnly?: boolean }): ToolDeclaration[];
}

/** @throws Error when two tools have one name. */
export function createToolbox(tools: readonly Tool[]): Toolbox {
  const byName = new Map(tools.map((tool) => [tool.name, { tool, declaration: declarationOf(tool) }]));
  if (byName.size !== tools.length) throw new Error('two tools have the same name');
  const offered = [...byName.values()].filter(({ tool }) => tool.commandOnly !== true);
  return {
    get: (name) => byName.get(name)?.tool,
    names: () => offered.map(({ tool }) => tool.name),
    declarations: ({ readOnly = false } = {}) =>
      offered.filter(({ tool }) => !readOnly || isReadOnly(tool)).map(({ declaration }) => declaration),
  };
}

function declarationOf({ name, description, schema }: Tool): ToolDeclaration {
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
