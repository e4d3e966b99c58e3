/**
 * Defines how the bridge reaches a configured agent: its card, headers and directories. Secrets can be in a variable or
 * come from a command, not in the file.
 */
import { z } from 'zod';
import { parseUrl } from '../../shared/net/parse-url.ts';

/** The name of the user's own server, which is used if no agent is configured. */
export const LOCAL_AGENT = 'local';

const command = z.array(z.string()).min(1).max(100);
const secretSource = z.union([
  z.string(),
  z.strictObject({
    env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable'),
  }),
  z.strictObject({ command }),
]);
/** A value, or the variable or command that provides it. */
export type SecretSource = z.infer<typeof secretSource>;

/** A user and password in a URL would appear in logs and errors, so they belong in a header. */
export const httpUrl = z
  .url({ protocol: /^https?$/ })
  .refine(hasNoCredentials, 'a user or password belongs into a header, not into the URL');

export const agentAccess = {
  /** The URL of the card, if it is not at the agent's URL. */
  cardUrl: httpUrl.optional(),
  /**
   * A program and its arguments that print the bearer token. They run without a shell, for up to 30 s, for each new
   * connection and after a refused token. Overrides `tokenEnv`.
   */
  tokenCommand: command.optional(),
  /** More headers: a value, `{"env": "NAME"}` or `{"command": ["program", "argument"]}`. */
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'the name of a header'), secretSource)
    .default({}),
  /**
   * Maps directories of this machine to the agent's directories; the longest match applies. An agent on another machine
   * gets only these directories. An agent on this machine gets the client's own directory.
   */
  workspaces: z.record(z.string().min(1), z.string().min(1)).default({}),
} as const;

/**
 * Returns true if the URL has no credentials. Also true for text that is no URL, because the schema reports that error.
 */
function hasNoCredentials(text: string): boolean {
  const url = parseUrl(text);
  return url === undefined || (url.username === '' && url.password === '');
}
