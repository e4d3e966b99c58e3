/** Removes secrets from an agent's text before the bridge shows the text. Pure. */

/** The minimum length of a secret, in characters. Shorter values are ordinary words. */
const SHORTEST = 8;

/**
 * Replaces secrets in a text by `[secret]`.
 * @param headers request headers, which an agent may repeat in an error
 */
export function redact(text: string, headers: Readonly<Record<string, string>>): string {
  let safe = text;
  for (const value of Object.values(headers)) {
    // A header may be `Bearer <token>`, so the token alone is redacted too.
    for (const secret of [value, ...value.split(/\s+/)])
      if (secret.length >= SHORTEST) safe = safe.replaceAll(secret, '[secret]');
  }
  return safe;
}
