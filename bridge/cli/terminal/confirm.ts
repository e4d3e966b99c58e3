/** Asks a person to confirm. An empty answer does not confirm. */
import { UsageError } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

interface Confirmation {
  yes?: boolean;
  /** A command that decides without a question. The error message names it if there is no terminal. */
  commandWithoutQuestion: string;
}

/**
 * Asks the person to confirm. With `--yes`, returns true without asking.
 * @throws UsageError without `--yes` and without a terminal
 */
export async function askToConfirm(
  terminal: Terminal,
  options: Confirmation,
  question: string,
): Promise<boolean> {
  requireInteractiveTerminal(terminal, options);
  return options.yes === true || terminal.confirm(terminal.paint('bold', question));
}

/**
 * Throws if the command can ask no person.
 * @throws UsageError without `--yes` and without a terminal
 */
export function requireInteractiveTerminal(
  { canAsk }: Terminal,
  { yes, commandWithoutQuestion }: Confirmation,
): void {
  if (yes === true || canAsk) return;
  throw new UsageError(
    `There is no terminal to ask a person, so nothing was decided. Read the action, then decide with its whole code: mcp-a2a-bridge ${commandWithoutQuestion}`,
  );
}
