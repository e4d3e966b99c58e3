import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

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
