import { parseJson } from '../../../shared/text/parse-json.ts';

type ParsedJson =
  | { type: 'value'; value: unknown }
  | { type: 'not-json'; problem: string }
  | { type: 'too-deep'; problem: string };

/**
 * Parses untrusted JSON. Never throws. X3: needs at most linear time, so no input blocks the process.
 * @param maxDepth the maximum nesting of arrays and objects
 */
export function safeParseJson(bytes: Uint8Array, maxDepth: number): ParsedJson {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { type: 'not-json', problem: 'The body is not valid UTF-8.' };
  }
  // The depth is checked before parsing, because the parser and later code may recurse.
  if (nestsDeeper(text, maxDepth))
    return {
      type: 'too-deep',
      problem: `The body nests arrays and objects more than ${maxDepth} levels deep.`,
    };
  const value = parseJson(text);
  return value === undefined
    ? { type: 'not-json', problem: 'The body is not valid JSON.' }
    : { type: 'value', value };
}

/** Returns true if brackets outside of strings nest deeper than `maxDepth`. Does not recurse. */
function nestsDeeper(text: string, maxDepth: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === BACKSLASH) i++;
      else if (char === QUOTE) inString = false;
    } else if (char === QUOTE) inString = true;
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      if (++depth > maxDepth) return true;
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) depth--;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
