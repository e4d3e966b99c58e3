/** Tools are written against their own input type, and held together without it. */
import type { z } from 'zod';
import { ProductError } from '../../shared/errors.ts';
import { inputProblem } from './input-problem.ts';
import type { Shown, Tool, ToolContext, ToolResult, ToolRun } from './tool.ts';

export interface ToolDefinition<Input> extends Omit<Tool<Input>, 'schema' | 'source' | 'withContent'> {
  schema: z.ZodType<Input>;
  source?: Tool['source'];
  withContent?: (input: Input, content: string) => Input;
}

/**
 * The tool, taking any input. Each method parses what it is given, so that the type is known rather than believed:
 * whatever was not checked before is checked there. @throws ProductError MALFORMED from every method for input that does not fit.
 */
export function defineTool<Input>(definition: ToolDefinition<Input>): Tool {
  const { schema, withContent } = definition;
  const parse = (input: unknown): Input => {
    const parsed = schema.safeParse(input);
    if (parsed.success) return parsed.data;
    throw new ProductError('MALFORMED', inputProblem(definition.name, parsed.error));
  };
  return {
    name: definition.name,
    description: definition.description,
    source: definition.source ?? { type: 'built-in' },
    sideEffect: definition.sideEffect,
    ...(definition.repeatable && { repeatable: true }),
    schema,
    ...(definition.graceMs !== undefined && { graceMs: definition.graceMs }),
    timeoutMs: (input) => definition.timeoutMs(parse(input)),
    title: (input) => definition.title(parse(input)),
    show: async (input: unknown, context: ToolContext): Promise<Shown> =>
      definition.show(parse(input), context),
    run: async (input: unknown, run: ToolRun): Promise<ToolResult> => definition.run(parse(input), run),
    ...(withContent && {
      withContent: (input: unknown, content: string) => withContent(parse(input), content),
    }),
  };
}
