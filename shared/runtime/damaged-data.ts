/** Thrown if stored data has a form that no version of the program writes. The storage is then damaged. */
export class DamagedData extends Error {
  override readonly name = 'DamagedData';

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}
