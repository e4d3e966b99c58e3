/** The operations on a format of configuration files. All are pure. */
export type ServerEntry = Readonly<Record<string, unknown>>;

export interface ConfigFormat {
  /** The value at these keys; undefined if there is none. @throws Error that says why the text cannot be read */
  read: (text: string, keys: readonly string[]) => unknown;
  /** @throws Error as `read`, or if a key on the way is not a table */
  put: (text: string, keys: readonly string[], entry: ServerEntry) => string;
  remove: (text: string, keys: readonly string[]) => string;
}
