/** Builds the title of a task: its first words, on one line. Pure. */

import { collapsedLine } from '../../shared/text/shortened-text.ts';
import { readableTaskTitle } from '../../shared/text/title-of-json-plan.ts';

const MAX_TITLE_CHARACTERS = 80;

export function taskTitleOf(text: string): string {
  return collapsedLine(readableTaskTitle(text), MAX_TITLE_CHARACTERS);
}
