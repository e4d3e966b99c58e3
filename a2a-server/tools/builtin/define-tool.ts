/** Turns a tool with a typed input into a tool that accepts unknown input and parses it. */
import type { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { abortableWorkspace } from '../workspace/abortable-workspace.ts';
import {
  type CallTargets,
  type ToolPreview,
  type Tool,
  type ToolContext,
  type ToolResult,
  type ToolRun,
  inputProblem,
} from '../tool.ts';

interface ToolDefinition<Input> extends Omit<Tool<Input>, 'schema' | 'source' | 'withContent' | 'reach'> {
  schema: z.ZodType<Input>;
  source?: Tool['source'];
  withContent?: (input: Input, content: string) => Input;
  reach?: (input: Input) => CallTargets;
}

/** Returns the context with a workspace that starts no operation after an abort. @throws if the signal has aborted already */
function abortableContext<Context extends ToolContext>(context: Context): Context {
  context.signal.throwIfAborted();
  return { ...context, workspace: abortableWorkspace(context.workspace, context.signal) };
}

/**
 * Defines a tool that accepts any input. The scheduler gives each tool its signal, deadline and live output. The
 * workspace stops at the signal even if the tool ignores it (A2).
 *
 * Each method parses its input, so the type of the input is certain.
 *
 * @throws ProductError MALFORMED from every method for input that does not fit the schema.
 */
export function defineTool<Input>(definition: ToolDefinition<Input>): Tool {
  const { schema, withContent, reach, ...rest } = definition;
  const parse = (input: unknown): Input => {
    const parsed = schema.safeParse(input);
    if (parsed.success) return parsed.data;
    throw new ProductError('MALFORMED', inputProblem(definition.name, parsed.error));
  };
  return {
    source: { type: 'built-in' },
    ...rest,
    schema,
    timeoutMs: (input) => definition.timeoutMs(parse(input)),
    title: (input) => definition.title(parse(input)),
    ...(reach && { reach: (input: unknown) => reach(parse(input)) }),
    show: async (input: unknown, context: ToolContext): Promise<ToolPreview> =>
      definition.show(parse(input), abortableContext(context)),
    run: async (input: unknown, run: ToolRun): Promise<ToolResult> =>
      definition.run(parse(input), abortableContext(run)),
    ...(withContent && {
      withContent: (input: unknown, content: string) => withContent(parse(input), content),
    }),
  };
}
