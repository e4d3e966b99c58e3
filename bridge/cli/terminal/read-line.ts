/** Reads one line that a person types at a prompt. */
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { onAbort } from '../../../shared/runtime/abort.ts';

/** Lets the caller end a prompt without an answer. */
export interface PromptWithdrawal {
  signal: AbortSignal;
  /** Called with the text that the person had typed when `signal` aborted during the prompt, before Enter. */
  onWithdrawn: (typed: string) => void;
}

interface Prompt {
  input: Readable;
  output: Writable;
  question: string;
  withdrawal?: PromptWithdrawal | undefined;
}

/** @returns the typed line; `''` at the end of the input, or after a withdrawal */
export async function readLine({ input, output, question, withdrawal }: Prompt): Promise<string> {
  // If the input ended before the question, for example by Ctrl-D, `readline` would wait forever. A question that is
  // withdrawn before the prompt is not asked.
  if (input.readableEnded || withdrawal?.signal.aborted === true) return '';
  const lines = createInterface({ input, output });
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  const withdraw = (): void => {
    withdrawal?.onWithdrawn(lines.line);
    lines.close();
  };
  const stopWatching = withdrawal === undefined ? () => undefined : onAbort(withdrawal.signal, withdraw);
  const line = await Promise.race([lines.question(`${question} `), closed]);
  stopWatching();
  lines.close();
  return line;
}

/**
 * The number of event-loop iterations without input after which no typed text is left. Each iteration reads the
 * terminal.
 */
const QUIET_TURNS = 3;

/**
 * Discards what a person has typed before a prompt. D2: a decision is valid only for what the person saw. If a person
 * types `y` twice, the second one must not approve the next action.
 */
export async function discardTypedAhead(input: Readable): Promise<void> {
  let quiet = 0;
  const discard = (): void => {
    quiet = 0;
  };
  input.on('data', discard);
  input.resume();
  while (quiet < QUIET_TURNS) {
    quiet += 1;
    await nextTurn();
  }
  input.off('data', discard);
  input.pause();
}
