/** Defines the pure functions that each format of configuration files needs. */
export type ServerEntry = Readonly<Record<string, unknown>>;

export interface ConfigFormat {
  /**
   * Returns the value at these keys; undefined if there is none. @throws Error that explains why the text cannot be
   * parsed
   */
  read: (text: string, keys: readonly string[]) => unknown;
  /**
   * Returns the text with this entry at these keys.
   * @throws Error as `read`, or if a key on the way is not a table
   */
  put: (text: string, keys: readonly string[], entry: ServerEntry) => string;
  remove: (text: string, keys: readonly string[]) => string;
}
