/** Thrown if stored data has a form that no version of this program writes. The file or database is then damaged. */
export class DamagedDataError extends Error {
  override readonly name = 'DamagedDataError';

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}
