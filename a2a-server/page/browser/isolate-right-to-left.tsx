import type { ComponentChildren } from 'preact';
import { splitAtRightToLeft } from '../../../shared/text/logical-order.ts';

/**
 * Returns a text whose words a browser shows in their logical order. Uses `<bdi>` elements and no direction marks,
 * because a person who copies the text would also copy the marks.
 */
export function isolateRightToLeft(text: string): ComponentChildren {
  const parts = splitAtRightToLeft(text);
  return parts.length === 1
    ? text
    : parts.map((part, at) => (at % 2 === 1 ? <bdi key={at}>{part}</bdi> : part));
}
