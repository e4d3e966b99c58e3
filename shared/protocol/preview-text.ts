/** The preview of a pending action as text: for people, and for models that show it to people. Pure. */
import { type Quoted, quoted, type Room, visibleLine } from '../visible-text.ts';
import { questionText } from './question-text.ts';
import type { Preview } from './tool-approval.ts';

/** Characters of a preview in the text part that clients without the extension read. The data part has all of it. */
export const TEXT_PART_ROOM: Room = { characters: 8_000 };

/** Every line of the agent's has a line mark. Only the working directory of a command, which the product adds, has none. */
export function quotedPreview(preview: Preview, room?: Room): Quoted {
  switch (preview.type) {
    case 'diff':
      // A unified diff ends with a line feed.
      return quoted(preview.diff.replace(/\n$/, ''), room);
    case 'command': {
      const command = quoted(`$ ${preview.command}`, room);
      return { ...command, text: `${command.text}\n(in ${visibleLine(preview.cwd)})` };
    }
    case 'url':
      return quoted(preview.url, room);
    case 'json':
      return quoted(jsonText(preview.value), room);
    case 'question':
      return quoted(questionText(preview), room);
  }
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? '';
  } catch {
    return '[nested too deep to show]';
  }
}
