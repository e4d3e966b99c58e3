/**
 * How an agent of the settings is reached: where its card is, what goes with each request, and how its directories are
 * called. Secrets are not written here: the settings name a variable or a command that has them.
 */
import { z } from 'zod';

const command = z.array(z.string()).min(1).max(100);
const secretSource = z.union([
  z.string(),
  z.strictObject({
    env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable'),
  }),
  z.strictObject({ command }),
]);
/** A value as it stands, or where it is to be had. */
export type SecretSource = z.infer<typeof secretSource>;

/** What may stand beside the URL of an agent. */
export const agentAccess = {
  /** Where its card is, if not at its URL. */
  cardUrl: z.url({ protocol: /^https?$/ }).optional(),
  /** A program and its arguments, run without a shell, which says the bearer token. */
  tokenCommand: command.optional(),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'the name of a header'), secretSource)
    .default({}),
  /** Directories of this machine by what the agent calls them. */
  workspaces: z.record(z.string().min(1), z.string().min(1)).default({}),
} as const;

/** A user and a password in a URL would be shown with it; they are to be sent as a header. */
export function hasNoCredentials(url: string): boolean {
  const { username, password } = new URL(url);
  return username === '' && password === '';
}
