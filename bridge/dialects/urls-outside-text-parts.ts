/** Finds URLs in the data and file parts of a message, such as the URL of a sign-in page. Pure. */
import type { Part } from '@a2a-js/sdk';

const MAX_LINKS = 5;
const MAX_DEPTH = 6;

/**
 * Returns the http and https URLs in their order, each once. URLs in text parts are not included, because the person
 * sees that text anyway.
 */
export function urlsOutsideTextParts(parts: readonly Part[]): readonly string[] {
  const found = new Set<string>();
  for (const { content } of parts) {
    if (content?.$case === 'url') collect(content.value, found, 0);
    if (content?.$case === 'data') collect(content.value, found, 0);
  }
  return [...found].slice(0, MAX_LINKS);
}

function collect(value: unknown, found: Set<string>, depth: number): void {
  if (typeof value === 'string') {
    if (/^https?:\/\/\S{1,2000}$/.test(value)) found.add(value);
  } else if (typeof value === 'object' && value !== null && depth < MAX_DEPTH) {
    for (const each of Object.values(value)) collect(each, found, depth + 1);
  }
}
