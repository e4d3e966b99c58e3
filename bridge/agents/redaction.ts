/** Removes secrets from an agent's text before the bridge shows the text. Pure. */

/** The minimum length of a secret in characters. A shorter value may be an ordinary word, so it is not replaced. */
const MIN_SECRET_CHARACTERS = 8;

/**
 * Replaces secrets in a text with `[secret]`. Also replaces the beginning of a secret before `…`, where a text was cut.
 * @param headerValues the values of request headers with credentials, which an agent may repeat in an error
 */
export function redactSecrets(text: string, headerValues: Iterable<string>): string {
  let safe = text;
  for (const value of headerValues) {
    // A header value may be `Bearer <token>`, so the token alone is replaced too.
    for (const secret of [value, ...value.split(/\s+/)]) {
      if (secret.length < MIN_SECRET_CHARACTERS) continue;
      const pieces = safe.replaceAll(secret, '[secret]').split('…');
      const last = pieces.pop() ?? '';
      safe = [...pieces.map((piece) => redactCutSecret(piece, secret)), last].join('…');
    }
  }
  return safe;
}

function redactCutSecret(text: string, secret: string): string {
  for (let length = secret.length - 1; length >= MIN_SECRET_CHARACTERS; length -= 1)
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}[secret]`;
  return text;
}
