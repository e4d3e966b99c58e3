/** Reports the outcome of a change in a client's configuration: as JSON, as one line, and as an exit code. Pure. */
import type { ProductError } from '../../../shared/runtime/errors.ts';
import { EXIT_FAILURE } from '../../../shared/runtime/exit-codes.ts';
import { exitCodeOf } from '../terminal/exit-codes.ts';
import type { McpClientProgram, ConfigScope } from './client.ts';

export type BridgeEntryOutcome =
  | { type: 'written' | 'same' | 'dry run' | 'declined'; facts: object }
  | { type: 'no such scope' }
  | { type: 'not here' }
  | { type: 'failed'; error: ProductError };

/** Returns the outcome as JSON for --json. */
export function bridgeEntryOutcomeFacts(outcome: BridgeEntryOutcome): object {
  switch (outcome.type) {
    case 'written':
    case 'same':
    case 'dry run':
    case 'declined':
      return outcome.facts;
    case 'not here':
      return { changed: false, skipped: 'not found on this machine' };
    case 'no such scope':
      return { changed: false, skipped: 'has no such scope' };
    case 'failed': {
      const { reason, message, facts } = outcome.error;
      return { changed: false, error: { reason, message, facts } };
    }
  }
}

/** Returns the outcome as one line for the person. */
export function bridgeEntryOutcomeLine(
  { title, program }: McpClientProgram,
  scope: ConfigScope,
  outcome: BridgeEntryOutcome,
): string {
  switch (outcome.type) {
    case 'written':
      return `${title}: written.`;
    case 'same':
      return `${title}: nothing to change.`;
    case 'dry run':
      return `${title}: would change.`;
    case 'declined':
      return `${title}: not written.`;
    case 'not here':
      return `${title}: skipped. This machine has neither its program (${program}) nor its settings.`;
    case 'no such scope':
      return `${title}: skipped. It has no scope "${scope}".`;
    case 'failed':
      return `${title}: failed. ${outcome.error.message}`;
  }
}

/**
 * Returns the exit code of a command that changed several clients. The command fails if it found no client to change.
 */
export function bridgeEntryOutcomesExitCode(outcomes: readonly BridgeEntryOutcome[]): number {
  const failed = outcomes.find((outcome) => outcome.type === 'failed');
  if (failed !== undefined) return exitCodeOf(failed.error);
  const reached = outcomes.filter(({ type }) => type !== 'not here' && type !== 'no such scope');
  return reached.length === 0 || reached.some(({ type }) => type === 'declined') ? EXIT_FAILURE : 0;
}
