/** Where the commands of `a2a-server` write, and how they report an error. */
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { EXIT_CONFIGURATION, EXIT_FAILURE, EXIT_USAGE } from '../../../shared/runtime/exit-codes.ts';
import { lostOutputEnd } from '../../../shared/runtime/lost-output.ts';
import { escapeHiddenCharacters, visibleJson } from '../../../shared/text/visible-text.ts';

export interface CommandOutput {
  /** Writes to standard output. */
  say: (text: string) => void;
  /** Writes one line of JSON to standard output. Escapes hidden characters, because a person may read it. */
  sayJson: (value: object) => void;
  /** Writes to standard error. */
  note: (text: string) => void;
}

export const OUTPUT: CommandOutput = {
  say: writeLine,
  // The JSON may quote a file or another program.
  sayJson: (value) => writeLine(visibleJson(JSON.stringify(value))),
  note: (text) => void process.stderr.write(`${text}\n`),
};

function writeLine(text: string): void {
  process.stdout.write(`${text}\n`, (error) => {
    if (!error) return;
    const { exitCode, text: report } = lostOutputEnd('a2a-server', error);
    if (report !== undefined) process.stderr.write(`${report}\n`);
    process.exitCode ??= exitCode;
  });
}

/** Escapes the hidden characters of a text that may quote a file, a program or another server. */
export function forTerminal(text: string): string {
  return text.split('\n').map(escapeHiddenCharacters).join('\n');
}

/** Reports the error and ends the process. */
export function reportErrorAndExit(error: unknown, json = false): never {
  const { reason = 'FAILURE', facts = {} } = error instanceof ProductError ? error : {};
  const message = errorMessageOf(error);
  if (json) OUTPUT.sayJson({ error: { reason, message, facts } });
  else process.stderr.write(`a2a-server: ${forTerminal(message)}\n`);
  process.exit(
    // A restart does not repair a damaged file, so the exit code is the same as for a wrong configuration.
    reason === 'CONFIGURATION' || facts['code'] === 'SQLITE_CORRUPT'
      ? EXIT_CONFIGURATION
      : reason === 'MALFORMED'
        ? EXIT_USAGE
        : EXIT_FAILURE,
  );
}
