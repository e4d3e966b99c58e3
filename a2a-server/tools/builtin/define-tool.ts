import type { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
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
import type { Workspace } from '../workspace/workspace.ts';

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

/**
 * Returns a copy of the workspace. After the abort, each of its methods throws AbortError, so tools need no code for
 * this check. Operations that have started run to their end.
 */
function createAbortableWorkspace(workspace: Workspace, signal: AbortSignal): Workspace {
  const begin = async <T>(what: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    return what();
  };
  return {
    root: workspace.root,
    locate: (path) => begin(() => workspace.locate(path)),
    read: (path) => begin(() => workspace.read(path)),
    bytes: (path) => begin(() => workspace.bytes(path)),
    replace: (path, replacement) => begin(() => workspace.replace(path, replacement)),
    survey: (path, heeded) => begin(() => workspace.survey(path, heeded)),
    destination: (from, to) => begin(() => workspace.destination(from, to)),
    move: (from, to, move) => begin(() => workspace.move(from, to, move)),
    remove: (path, removal) => begin(() => workspace.remove(path, removal)),
    list: (path) => begin(() => workspace.list(path)),
    walk: (path, options, visit) =>
      begin(() =>
        workspace.walk(path, options, (directory) =>
          begin(() =>
            visit({
              ...directory,
              read: (name, maxBytes) => begin(() => directory.read(name, maxBytes)),
            }),
          ),
        ),
      ),
  };
}
