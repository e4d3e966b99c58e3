/** The steps of the test ACP agent, written into the prompt as one line of JSON. */
import { z } from 'zod';

export const toolCall = z.strictObject({
  id: z.string(),
  kind: z.enum(['read', 'edit', 'delete', 'execute', 'fetch', 'other']).default('other'),
  title: z.string(),
  rawInput: z.unknown().optional(),
  diff: z.strictObject({ path: z.string(), oldText: z.string().nullable(), newText: z.string() }).optional(),
  /** The files that the call names, besides the file of its diff. */
  locations: z.array(z.string()).optional(),
  /** The content of the diff: the whole file, or only the passage of the old text. */
  writes: z.enum(['file', 'part']).optional(),
  /** The output of the call, in pieces. */
  output: z.array(z.string()).default([]),
  /** The effect of the call: it appends this line to `effects.txt` in the working directory. */
  effect: z.string().optional(),
  /** How the tool call ends. */
  end: z.enum(['completed', 'failed', 'untold', 'never', 'dies']).default('completed'),
  /** The permission options; defaults to the usual two. */
  options: z.array(z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always'])).optional(),
});
export type ToolCallStep = z.input<typeof toolCall>;

export const step = z.union([
  z.strictObject({ say: z.string() }),
  z.strictObject({ think: z.string() }),
  z.strictObject({
    plan: z.array(z.strictObject({ content: z.string(), status: z.enum(['pending', 'completed']) })),
  }),
  /** Runs one call without a permission request. */
  z.strictObject({ tool: toolCall }),
  /** Asks for permission for all calls at once. Starts no call before every request has an answer. */
  z.strictObject({ ask: z.array(toolCall) }),
  /**
   * Asks for permission for the outer call. Then, before the effect of the outer call, asks for permission for the
   * inner call.
   */
  z.strictObject({ nest: z.strictObject({ outer: toolCall, inner: toolCall }) }),
  /** The agent exits with this code. */
  z.strictObject({ die: z.number() }),
  /** `longLine` prints this number of megabytes on one line. `rubbish` prints them as lines that are no messages. */
  z.strictObject({ longLine: z.number() }),
  z.strictObject({ rubbish: z.number() }),
  /**
   * Waits for a cancel; `until-sigterm` ignores the cancel, `deaf` ignores SIGTERM too; `in-first-process` waits only in
   * the session's first process.
   */
  z.strictObject({ hang: z.enum(['until-cancelled', 'until-sigterm', 'deaf', 'in-first-process']) }),
  z.strictObject({ stop: z.enum(['refusal', 'max_tokens', 'max_turn_requests']) }),
  z.strictObject({ fail: z.string() }),
]);
export type Step = z.output<typeof step>;

const MARK = 'steps: ';

/** The message that makes the agent run these steps. */
export function steps(...all: z.input<typeof step>[]): string {
  return MARK + JSON.stringify(all);
}

/** Finds the last line with steps. */
export function stepsIn(text: string): { line: string; steps: Step[] } | undefined {
  const line = text.split('\n').findLast((it) => it.startsWith(MARK));
  return line === undefined
    ? undefined
    : { line, steps: z.array(step).parse(JSON.parse(line.slice(MARK.length))) };
}
