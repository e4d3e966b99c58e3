/** Removes secrets from an agent's text before the bridge shows the text. Pure. */

/** The minimum length of a secret in characters. A shorter value may be an ordinary word, so it is not replaced. */
const MIN_SECRET_CHARACTERS = 8;

/**
 * Replaces secrets in a text with `[secret]`.
 * @param headers the request headers with credentials, which an agent may repeat in an error
 */
export function redactSecrets(text: string, headers: Readonly<Record<string, string>>): string {
  let safe = text;
  for (const value of Object.values(headers)) {
    // A header value may be `Bearer <token>`, so the token alone is replaced too.
    for (const secret of [value, ...value.split(/\s+/)])
      if (secret.length >= MIN_SECRET_CHARACTERS) safe = safe.replaceAll(secret, '[secret]');
  }
  return safe;
}
