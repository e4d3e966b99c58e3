/** Shortens ids for tables and for commands that a person copies. Pure. */
import { firstDigitsOfUuid, ID_KIND, MIN_SHORT_ID_CHARACTERS } from '../../sessions/id-prefix.ts';
import { commandWord } from './command-word.ts';

const NARROW_COLUMNS = 80;

/**
 * Returns an id for a terminal of this width. In a narrow terminal, the id loses its kind (such as `session-`), so that
 * more of the title fits. Commands accept such an id too.
 */
export function idForWidth(width: number | undefined, id: string): string {
  return width !== undefined && width < NARROW_COLUMNS ? id.replace(ID_KIND, '') : id;
}

/**
 * Returns a session id as one word of a command. For a random UUID, the word has only the first eight digits. If the id
 * of another session begins with the same digits, the command that reads the word reports this.
 */
export function sessionWord(sessionId: string): string {
  return commandWord(firstDigitsOfUuid(sessionId) ?? sessionId);
}

/** Returns a short, unique prefix of each id. A prefix is longer if it would not be unique otherwise. */
export function shortIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const unique = [...new Set(ids)].toSorted();
  return new Map(
    unique.map((id, at) => {
      const shared = Math.max(sharedLength(id, unique[at - 1] ?? ''), sharedLength(id, unique[at + 1] ?? ''));
      const kind = ID_KIND.exec(id)?.[0].length ?? 0;
      return [id, id.slice(0, Math.max(kind + MIN_SHORT_ID_CHARACTERS, shared + 1))];
    }),
  );
}

function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
