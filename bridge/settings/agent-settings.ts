/**
 * How the bridge reaches an agent of the settings: its card, its headers, its directories. Secrets need not be in the
 * file: the settings can name a variable or a command.
 */
import { z } from 'zod';
import { parseUrl } from '../../shared/net/parse-url.ts';

/** The name of the user's own server if the settings configure no agent. */
export const LOCAL_AGENT = 'local';

const command = z.array(z.string()).min(1).max(100);
const secretSource = z.union([
  z.string(),
  z.strictObject({
    env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable'),
  }),
  z.strictObject({ command }),
]);
/** A value, or where to read it. */
export type SecretSource = z.infer<typeof secretSource>;

/** A user and password in a URL would be visible, so a header must carry them. */
export const httpUrl = z
  .url({ protocol: /^https?$/ })
  .refine(hasNoCredentials, 'a user or password belongs into a header, not into the URL');

/** The optional keys of an agent's settings. */
export const agentAccess = {
  /** The URL of the card, if it is not at the agent's URL. */
  cardUrl: httpUrl.optional(),
  /** A program and its arguments, run without a shell. It prints the bearer token. */
  tokenCommand: command.optional(),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'the name of a header'), secretSource)
    .default({}),
  /** Directories of this machine, and the agent's paths for them. */
  workspaces: z.record(z.string().min(1), z.string().min(1)).default({}),
} as const;

/** True if the text is no URL, because the schema reports that error. */
function hasNoCredentials(text: string): boolean {
  const url = parseUrl(text);
  return url === undefined || (url.username === '' && url.password === '');
}
