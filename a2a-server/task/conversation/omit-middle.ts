/**
 * Shortens texts for a model. Two thirds come from the start, one third from the end, and a note is between them. Pure.
 */

/** Shortens a text to `chars` characters plus the note. */
export function omitMiddle(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const head = Math.ceil((chars * 2) / 3);
  const tail = chars - head;
  // The cut must not leave half a character, because that is no valid UTF-8.
  const start = text.slice(0, head).replace(/[\ud800-\udbff]$/, '');
  const end = tail === 0 ? '' : text.slice(-tail).replace(/^[\udc00-\udfff]/, '');
  return `${start}${omissionNote(text.length - chars)}${end}`;
}

/** Shortens a text to `bytes` bytes of UTF-8 plus the note. */
export function omitMiddleBytes(text: string, bytes: number): string {
  const whole = Buffer.byteLength(text);
  if (whole <= bytes) return text;
  for (let chars = Math.floor((text.length * bytes) / whole); chars > 0; chars = Math.floor(chars * 0.9)) {
    const shown = omitMiddle(text, chars);
    // The characters of the start and the end may need more bytes than those of the middle. Then fewer characters are
    // tried.
    if (Buffer.byteLength(shown) - Buffer.byteLength(omissionNote(text.length - chars)) <= bytes)
      return shown;
  }
  return omitMiddle(text, 0);
}

function omissionNote(left: number): string {
  return `\n[… ${left} characters left out …]\n`;
}
