/** The functions that each format of configuration files (JSON, TOML) must implement. All are pure. */
export type ServerEntry = Readonly<Record<string, unknown>>;

export interface ConfigFormat {
  /**
   * Returns the value at these keys. Returns undefined if there is none.
   * @throws Error that says why the text cannot be parsed
   */
  read: (text: string, keys: readonly string[]) => unknown;
  /**
   * Returns the text with this entry at these keys.
   * @throws Error like `read`, or if a key on the path is not a table
   */
  put: (text: string, keys: readonly string[], entry: ServerEntry) => string;
  remove: (text: string, keys: readonly string[]) => string;
}
