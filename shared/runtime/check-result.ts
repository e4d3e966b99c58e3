/** The result of one check of `doctor` or of `a2a-server check`. */
import { z } from 'zod';

export const checkResultSchema = z.object({
  /** The subject of the check, e.g. `agent local`. */
  subject: z.string(),
  /** `warn`: it works, but may behave unexpectedly. `fail`: it does not work. */
  level: z.enum(['ok', 'warn', 'fail']),
  message: z.string(),
  next: z.string().optional(),
});
export type CheckResult = z.infer<typeof checkResultSchema>;

/** The output of `a2a-server check --json`. */
export const serverCheckSchema = z.object({
  ok: z.boolean(),
  /** The agent that runs the tasks with these settings, as in `GET /health`. Null if the settings cannot be read. */
  agent: z.string().nullable(),
  /**
   * The environment variable that is missing. If another program starts the server, that program may set the variable.
   */
  missingVariable: z.string().nullable(),
  findings: z.array(checkResultSchema),
});
export type ServerCheck = z.infer<typeof serverCheckSchema>;

export const ok = (subject: string, message: string): CheckResult => ({ subject, level: 'ok', message });
export const warn = (subject: string, message: string, next: string): CheckResult => ({
  subject,
  level: 'warn',
  message,
  next,
});
export const fail = (subject: string, message: string, next: string): CheckResult => ({
  subject,
  level: 'fail',
  message,
  next,
});
