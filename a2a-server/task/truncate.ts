/** Shortens a text to `chars` characters: two thirds from its head, one third from its tail, and a line with the omitted count. Pure. */
export function truncate(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const head = Math.ceil((chars * 2) / 3);
  const tail = chars - head;
  const left = text.length - chars;
  return `${text.slice(0, head)}\n[… ${left} characters left out …]\n${tail === 0 ? '' : text.slice(-tail)}`;
}
