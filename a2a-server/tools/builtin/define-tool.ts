import type { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { createAbortableWorkspace } from '../workspace/abortable-workspace.ts';
import {
  type CallTargets,
  type PreviewWithBasis,
  type Tool,
  type ToolContext,
  type ToolResult,
  type ToolRun,
  inputIssuesText,
} from '../tool.ts';
import { inputProblem } from '../../../shared/text/input-problem.ts';

interface ToolDefinition<Input> extends Omit<Tool<Input>, 'schema' | 'source' | 'withContent' | 'reach'> {
  schema: z.ZodType<Input>;
  source?: Tool['source'];
  withContent?: (input: Input, content: string) => Input;
  reach?: (input: Input) => CallTargets;
}

/**
 * Returns a copy of the context. In the copy, the workspace starts no operation after an abort.
 * @throws the abort reason if the signal has already aborted
 */
function abortableContext<Context extends ToolContext>(context: Context): Context {
  context.signal.throwIfAborted();
  return { ...context, workspace: createAbortableWorkspace(context.workspace, context.signal) };
}

/**
 * Returns a tool that accepts unknown input. Each method of the tool parses its input with the schema first. A2: after
 * an abort, the workspace starts no operation, even if the tool ignores its signal.
 *
 * @throws ProductError MALFORMED from every method if the input does not fit the schema
 */
export function defineTool<Input>(definition: ToolDefinition<Input>): Tool {
  const { schema, withContent, reach, ...rest } = definition;
  const parse = (input: unknown): Input => {
    const parsed = schema.safeParse(input, { error: inputProblem });
    if (parsed.success) return parsed.data;
    throw new ProductError('MALFORMED', inputIssuesText(definition.name, parsed.error));
  };
  return {
    source: { type: 'built-in' },
    ...rest,
    schema,
    timeoutMs: (input) => definition.timeoutMs(parse(input)),
    title: (input) => definition.title(parse(input)),
    ...(reach && { reach: (input: unknown) => reach(parse(input)) }),
    show: async (input: unknown, context: ToolContext): Promise<PreviewWithBasis> =>
      definition.show(parse(input), abortableContext(context)),
    run: async (input: unknown, run: ToolRun): Promise<ToolResult> =>
      definition.run(parse(input), abortableContext(run)),
    ...(withContent && {
      withContent: (input: unknown, content: string) => withContent(parse(input), content),
    }),
  };
}
