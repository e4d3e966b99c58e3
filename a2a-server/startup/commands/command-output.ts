/** Where a command writes. */
export interface CommandOutput {
  /** Writes to standard output. */
  say: (text: string) => void;
  /** Writes to standard error. */
  note: (text: string) => void;
}
