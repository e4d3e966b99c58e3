/** Errors of the operating system, as Node throws them. */

/** The error's code, e.g. `ENOENT`. Told by its shape: an error may come from another realm. */
export function systemErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
