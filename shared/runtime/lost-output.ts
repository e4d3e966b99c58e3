/** Reports that the standard output of a command cannot be written, e.g. on a full disk. */
import { EXIT_FAILURE } from './exit-codes.ts';
import { errorMessageOf, errorCode } from './errors.ts';

interface LostOutputEnd {
  exitCode: number;
  /** The text for standard error. Undefined if there is nothing to report. */
  text?: string;
}

/**
 * Returns how a command ends after this error of its standard output. A reader such as `head` may close the pipe early:
 * that is not a failure.
 */
export function lostOutputEnd(program: string, error: unknown): LostOutputEnd {
  if (errorCode(error) === 'EPIPE') return { exitCode: 0 };
  return {
    exitCode: EXIT_FAILURE,
    text: `${program}: The output cannot be written: ${errorMessageOf(error)}. A part of it is missing.`,
  };
}
