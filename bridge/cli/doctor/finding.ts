/** What doctor says of one thing it has looked at. */
export interface Finding {
  /** What was looked at, e.g. `agent local`. */
  subject: string;
  /** `warn` works, and may surprise; `fail` does not work. */
  level: 'ok' | 'warn' | 'fail';
  message: string;
  /** What to do now; absent where there is nothing to do. */
  next?: string;
}

export const ok = (subject: string, message: string): Finding => ({ subject, level: 'ok', message });
export const warn = (subject: string, message: string, next: string): Finding => ({
  subject,
  level: 'warn',
  message,
  next,
});
export const fail = (subject: string, message: string, next: string): Finding => ({
  subject,
  level: 'fail',
  message,
  next,
});
