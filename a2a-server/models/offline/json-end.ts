/**
 * Where the JSON object that opens at `start` ends: the index after its closing brace, or the end of the text when it
 * has none. Braces in strings don't count. One pass, no recursion (X3).
 */
export function jsonEnd(source: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let at = start; at < source.length; at += 1) {
    const char = source.charAt(at);
    if (inString) {
      if (char === '\\') at += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{') depth += 1;
    else if (char === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return source.length;
}
