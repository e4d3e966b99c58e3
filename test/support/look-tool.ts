import { z } from 'zod';
import { defineTool } from '../../a2a-server/tools/builtin/define-tool.ts';
import type { Tool } from '../../a2a-server/tools/tool.ts';

/**
 * Creates the tool `look`, which has no side effects.
 * @param run the tool's work, which gets the abort signal
 */
export function lookTool(
  run: (signal: AbortSignal) => Promise<void> = () => Promise.resolve(),
  timeoutMs = 60_000,
): Tool {
  return defineTool({
    name: 'look',
    description: 'looks',
    sideEffect: 'none',
    schema: z.strictObject({}),
    timeoutMs: () => timeoutMs,
    title: () => 'Look',
    show: async () => ({ preview: { type: 'json', value: {} }, basis: null }),
    run: async (_input, { signal }) => {
      await run(signal);
      return { text: 'Seen.', summary: 'looked' };
    },
  });
}
