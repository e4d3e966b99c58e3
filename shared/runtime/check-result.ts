/** The result of one check of `doctor` or of `a2a-server check`. */
import { z } from 'zod';

const checkResultSchema = z.object({
  /** Names what was checked, e.g. `agent local`. */
  subject: z.string(),
  /** `warn`: the subject works, but may behave unexpectedly. `fail`: the subject does not work. */
  level: z.enum(['ok', 'warn', 'fail']),
  message: z.string(),
  next: z.string().optional(),
});
export type CheckResult = z.infer<typeof checkResultSchema>;

/** The subject of results about the state directory, in both programs. */
export const STATE_DIRECTORY_SUBJECT = 'state directory';

/** The output of `a2a-server check --json`. */
export const serverCheckReportSchema = z.object({
  ok: z.boolean(),
  /**
   * The agent that runs the tasks with these settings, in the same words as `GET /health`. Null if the settings cannot
   * be read.
   */
  agent: z.string().nullable(),
  /**
   * The name of a required environment variable that is not set. Null if none is missing. The running server
   * may have it, because another program may have started that server with other variables.
   */
  missingVariable: z.string().nullable(),
  findings: z.array(checkResultSchema),
});
export type ServerCheckReport = z.infer<typeof serverCheckReportSchema>;

export interface CheckResults {
  ok: (message: string) => CheckResult;
  warn: (message: string, next: string) => CheckResult;
  fail: (message: string, next: string) => CheckResult;
}

/** Returns the functions that create the results of the checks of one subject. */
export const checkResults = (subject: string): CheckResults => ({
  ok: (message) => ({ subject, level: 'ok', message }),
  warn: (message, next) => ({ subject, level: 'warn', message, next }),
  fail: (message, next) => ({ subject, level: 'fail', message, next }),
});
