/**
 * The settings with which the bridge reaches a configured agent: its card, its headers and its directories. The
 * configuration file need not contain a secret. It can name a variable or a command instead.
 */
import { z } from 'zod';
import { parseUrl } from '../../shared/net/parse-url.ts';

/** The name of the user's own A2A server. It is the only agent if none is configured. */
export const LOCAL_AGENT = 'local';

export const variableNameSchema = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable');
const command = z.array(z.string()).min(1).max(100);
const secretSource = z.union([
  z.string(),
  z.strictObject({ env: variableNameSchema }),
  z.strictObject({ command }),
]);
/** The source of a secret: the value itself, a variable, or a command that prints it. */
export type SecretSource = z.infer<typeof secretSource>;

/**
 * Matches an http or https URL without a user and a password. These would appear in logs and errors, so they belong in
 * a header.
 */
export const httpUrlSchema = z
  .url({ protocol: /^https?$/, error: 'it is not a URL that begins with http:// or https://' })
  .refine(hasNoCredentials, 'a user or password belongs into a header, not into the URL');

export const agentAccessFields = {
  /** The URL of the card, if the card is not below the agent's URL. */
  cardUrl: httpUrlSchema.optional(),
  /**
   * A program and its arguments that print the bearer token. They run without a shell, for up to 30 s. They run for
   * each new connection, and after the agent has refused a token. This setting overrides `tokenEnv`.
   */
  tokenCommand: command.optional(),
  /** Further headers. Each value is a text, `{"env": "NAME"}` or `{"command": ["program", "argument"]}`. */
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'the name of a header'), secretSource)
    .default({}),
  /**
   * Maps directories of this machine to directories of the agent. The longest match applies. A task without a workspace
   * gets the client's directory if it is mapped, or if the agent runs on this machine. A workspace that a call names and
   * that is not mapped is sent unchanged, as a path of the agent.
   */
  workspaces: z.record(z.string().min(1), z.string().min(1)).default({}),
} as const;

/**
 * Returns true if the URL contains no credentials. Also returns true for a text that is not a URL, because the schema
 * reports that error.
 */
function hasNoCredentials(text: string): boolean {
  const url = parseUrl(text);
  return url === undefined || (url.username === '' && url.password === '');
}
