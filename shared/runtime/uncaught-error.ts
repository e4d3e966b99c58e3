/** Ends a program after an error that no code has caught, and tells the person about it in one line. */
import { EXIT_FAILURE } from './exit-codes.ts';
import { escapeHiddenCharacters } from '../text/visible-text.ts';
import { errorMessageOf } from './errors.ts';

interface UncaughtErrorReport {
  /** Says where the person finds the stack trace. */
  more: string;
  /** Writes the error with its stack trace. */
  log: (error: unknown) => void;
}

/**
 * From now on, an uncaught error is logged, is shown in one line, and ends this process with exit code 1. A later call
 * of this function replaces the callback of an earlier call. Without this function, Node would print a stack trace,
 * which tells a person nothing.
 * @param program the name of the program, for the start of the line
 */
export function endOnUncaughtError(program: string, { more, log }: UncaughtErrorReport): void {
  // Node refuses to replace a callback, so the first line removes it.
  process.setUncaughtExceptionCaptureCallback(null);
  process.setUncaughtExceptionCaptureCallback((error: unknown) => {
    try {
      log(error);
      process.stderr.write(`${uncaughtErrorText(program, error, more)}\n`);
    } finally {
      process.exit(EXIT_FAILURE);
    }
  });
}

/**
 * The report of a program that has no log yet.
 * @param levelVariable the environment variable of the log level
 */
export function createStderrReport(levelVariable: string): UncaughtErrorReport {
  return {
    more: `To see the stack trace, set ${levelVariable}=debug and try again.`,
    log: (error) => {
      if (process.env[levelVariable] !== 'debug') return;
      process.stderr.write(`${error instanceof Error ? (error.stack ?? '') : String(error)}\n`);
    },
  };
}

/** Returns the line about an uncaught error. */
export function uncaughtErrorText(program: string, error: unknown, more: string): string {
  const [message = ''] = errorMessageOf(error).split('\n');
  const what = message === '' ? 'an error without a message' : escapeHiddenCharacters(message);
  return `${program}: An unexpected error has ended the program: ${what.replace(/\.$/, '')}. ${more}`;
}
