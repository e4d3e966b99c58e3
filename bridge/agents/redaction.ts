/** Secrets taken out of what others say, before anybody reads it. Pure. */

/** Shorter values are words that stand anywhere, and no secrets. */
const SHORTEST = 8;

/** @param headers what goes with each request; an agent may repeat it in an error */
export function redacted(text: string, headers: Readonly<Record<string, string>>): string {
  let safe = text;
  for (const value of Object.values(headers)) {
    // `Bearer <token>`: the token alone gives as much away.
    for (const secret of [value, ...value.split(/\s+/)])
      if (secret.length >= SHORTEST) safe = safe.replaceAll(secret, '[secret]');
  }
  return safe;
}
