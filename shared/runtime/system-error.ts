/** Reads the code of an operating system error. */

/** The error code, e.g. `ENOENT`. It checks the shape, not the class: the error may come from another realm. */
export function systemErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
