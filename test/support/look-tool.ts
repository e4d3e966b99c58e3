import { z } from 'zod';
import { defineTool } from '../../a2a-server/tools/builtin/define-tool.ts';
import type { Tool } from '../../a2a-server/tools/tool.ts';

type Definition<Input> = Parameters<typeof defineTool<Input>>[0];

/** Creates a tool whose name says what it does. By default it has no side effects. */
export function testTool<Input>(
  tool: Pick<Definition<Input>, 'name' | 'schema' | 'run'> & Partial<Definition<Input>>,
): Tool {
  return defineTool({
    description: tool.name,
    sideEffect: 'none',
    timeoutMs: () => 60_000,
    title: () => tool.name,
    show: async () => ({ preview: { type: 'json', value: {} }, basis: null }),
    ...tool,
  });
}

/**
 * Creates the tool `look`, which has no side effects.
 * @param run the tool's work, which gets the abort signal
 */
export function lookTool(
  run: (signal: AbortSignal) => Promise<void> = () => Promise.resolve(),
  timeoutMs = 60_000,
): Tool {
  return testTool({
    name: 'look',
    schema: z.strictObject({}),
    timeoutMs: () => timeoutMs,
    title: () => 'Look',
    run: async (_input, { signal }) => {
      await run(signal);
      return { text: 'Seen.', summary: 'looked' };
    },
  });
}
