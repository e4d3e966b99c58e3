/** Builds the title of a task: its first words, on one line. Pure. */

import { cappedOneLine } from '../../shared/text/capped-text.ts';
import { readableTitle } from '../../shared/text/readable-title.ts';

const MAX_TITLE_CHARACTERS = 80;

export function taskTitleOf(text: string): string {
  return cappedOneLine(readableTitle(text), MAX_TITLE_CHARACTERS);
}
