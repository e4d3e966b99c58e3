/** Removes secrets from text that others wrote, before it is shown. Pure. */

/** Shorter values are ordinary words, not secrets. */
const SHORTEST = 8;

/** @param headers of each request; an agent may repeat them in an error */
export function redact(text: string, headers: Readonly<Record<string, string>>): string {
  let safe = text;
  for (const value of Object.values(headers)) {
    // A header may be `Bearer <token>`. The token alone is also secret.
    for (const secret of [value, ...value.split(/\s+/)])
      if (secret.length >= SHORTEST) safe = safe.replaceAll(secret, '[secret]');
  }
  return safe;
}
