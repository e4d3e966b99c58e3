/** What a format of configuration files can do. All of it pure. */
export type ServerEntry = Readonly<Record<string, unknown>>;

export interface ConfigText {
  /** What stands at these keys; undefined where nothing does. @throws Error that says why the text cannot be read */
  read: (text: string, keys: readonly string[]) => unknown;
  /** @throws Error likewise, or when the keys lead through something that is no table */
  put: (text: string, keys: readonly string[], entry: ServerEntry) => string;
  remove: (text: string, keys: readonly string[]) => string;
}
