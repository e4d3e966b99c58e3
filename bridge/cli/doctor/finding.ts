/** The result of one check of doctor. */
export interface CheckResult {
  /** The subject of the check, e.g. `agent local`. */
  subject: string;
  /** `warn`: it works, but may surprise. `fail`: it does not work. */
  level: 'ok' | 'warn' | 'fail';
  message: string;
  /** The next step; absent if none is needed. */
  next?: string;
}

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
