/** Compares what a command prints with what a document shows. */

/** What differs from run to run, and the name of its kind. The order matters. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/\b(session|task|call)-[0-9a-f][0-9a-f-]*/g, '$1-ID'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+(?<!-)/g, 'ID'],
  [/\b([a-z-]+)-\d{10}-[0-9a-f]+\b/g, '$1-ID'],
  [/\b[0-9a-f]{8}\b/g, 'ID'],
  [/\bSHA256:\S+/g, 'SHA256:ID'],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+Z)?)?/g, 'TIME'],
  [/\d{4}-\d\d-\d\d/g, 'DAY'],
  [/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT'],
  [/\b(pid"?:?|process) ?\d+/g, '$1 NUMBER'],
  [/\bv\d+\.\d+\.\d+\b/g, 'VERSION'],
  [/\b\d+(\.\d+)? ?[smhd]\b/g, 'DURATION'],
  [/\b\d+ events\b/g, 'NUMBER events'],
  [/#code=\S+/g, '#code=CODE'],
  // Columns are as wide as their widest cell.
  [/ {2,}/g, ' '],
  [/ +$/gm, ''],
];

/** Returns the text with names in place of ids, times, ports and the like. */
export function comparable(text: string): string {
  return KINDS.reduce((sofar, [found, kind]) => sofar.replaceAll(found, kind), text).trim();
}

/**
 * Returns undefined if the command has printed what the document shows. Otherwise returns both, in comparable form. In
 * the document, `…` stands for any text, and on a line of its own for any lines.
 */
export function difference(shown: string, printed: string): { expected: string; got: string } | undefined {
  const [expected, got] = [comparable(shown), comparable(printed)];
  const parts = expected.split(/(?<=\n)…\n|…/).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*')}$`).test(got) ? undefined : { expected, got };
}
