/** What the ACP agent of a test does for a prompt: steps, written into the message as one line of JSON. */
import { z } from 'zod';

export const toolCall = z.strictObject({
  id: z.string(),
  kind: z.enum(['read', 'edit', 'delete', 'execute', 'fetch', 'other']).default('other'),
  title: z.string(),
  rawInput: z.unknown().optional(),
  diff: z.strictObject({ path: z.string(), oldText: z.string().nullable(), newText: z.string() }).optional(),
  /** Files it names beside its diff. */
  locations: z.array(z.string()).optional(),
  /** It writes the new text of its diff, as the whole file or in place of the old text. */
  writes: z.enum(['file', 'part']).optional(),
  /** What it puts out, piece by piece. */
  output: z.array(z.string()).default([]),
  /** The effect: this line is appended to `effects.txt` in its directory. */
  effect: z.string().optional(),
  /** How it ends, if it is told at all. */
  end: z.enum(['completed', 'failed', 'untold', 'never', 'dies']).default('completed'),
  /** What the agent offers the person; the usual two if left out. */
  options: z.array(z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always'])).optional(),
});
export type ToolCallStep = z.input<typeof toolCall>;

export const step = z.union([
  z.strictObject({ say: z.string() }),
  z.strictObject({ think: z.string() }),
  z.strictObject({
    plan: z.array(z.strictObject({ content: z.string(), status: z.enum(['pending', 'completed']) })),
  }),
  /** Without asking. */
  z.strictObject({ tool: toolCall }),
  /** Asks for all of them at once, and begins none before each has been answered. */
  z.strictObject({ ask: z.array(toolCall) }),
  /** Asks for the outer one, and within it, before its effect, for the inner one. */
  z.strictObject({ nest: z.strictObject({ outer: toolCall, inner: toolCall }) }),
  /** Exits with this code. */
  z.strictObject({ die: z.number() }),
  /** So many megabytes on one line, or of lines that are no messages. */
  z.strictObject({ longLine: z.number() }),
  z.strictObject({ rubbish: z.number() }),
  /** Waits for a cancel; `deaf` to that too; or only in the process that the session was begun in. */
  z.strictObject({ hang: z.enum(['until-cancelled', 'deaf', 'in-first-process']) }),
  z.strictObject({ stop: z.enum(['refusal', 'max_tokens', 'max_turn_requests']) }),
  z.strictObject({ fail: z.string() }),
]);
export type Step = z.output<typeof step>;

const MARK = 'steps: ';

/** The message that has the agent take these steps. */
export function steps(...all: z.input<typeof step>[]): string {
  return MARK + JSON.stringify(all);
}

/** The steps of the last line that has any. */
export function stepsIn(text: string): { line: string; steps: Step[] } | undefined {
  const line = text.split('\n').findLast((it) => it.startsWith(MARK));
  return line === undefined
    ? undefined
    : { line, steps: z.array(step).parse(JSON.parse(line.slice(MARK.length))) };
}
