/**
 * Finds the fields of a tool call's input that its preview does not show. D5: a person must see the whole action before
 * approving it, so these fields are shown beside the preview. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import type { PendingAction, Preview } from '../../../shared/protocol/tool-approval.ts';

/** Returns the input fields that the preview does not show, with their values. */
export function inputBesidePreview({
  input,
  preview,
  source,
}: Pick<PendingAction, 'input' | 'preview' | 'source'>): Record<string, unknown> {
  if (preview.type === 'json' && isDeepStrictEqual(preview.value, input)) return {};
  const shows = shownBy(preview, source.type === 'built-in');
  return Object.fromEntries(Object.entries(input).filter(([, value]) => !shows(value)));
}

/**
 * Returns a function that says whether the preview shows a value.
 * @param effect true if the agent itself makes the change in the diff (a built-in tool)
 */
function shownBy(preview: Preview, effect: boolean): (value: unknown) => boolean {
  switch (preview.type) {
    case 'diff':
      return shownByDiff(preview, effect);
    case 'command':
      return (value) => value === preview.command;
    case 'url':
      return (value) => value === preview.url;
    case 'question': {
      const { text, choices, schema } = preview;
      return (value) => [text, choices, schema].some((each) => isDeepStrictEqual(each, value));
    }
    case 'json':
      return () => false;
  }
}

/**
 * Returns a function that says whether the diff shows a value. It shows the path, and each text of several lines that
 * occurs in one hunk. A text of one line may occur by chance, so it counts as not shown. With `effect`, the complete new
 * text of the file also counts as shown, because the diff leaves out only lines that do not change. Such a text contains
 * the new lines of all hunks, in order.
 */
function shownByDiff(
  { path, diff }: Extract<Preview, { type: 'diff' }>,
  effect: boolean,
): (value: unknown) => boolean {
  const hunks = hunksOf(diff);
  return (value) => {
    if (value === path) return true;
    if (typeof value !== 'string' || !value.includes('\n')) return false;
    const passage = value.endsWith('\n') ? value.slice(0, -1) : value;
    if (hunks.some((hunk) => isPassage(passage, hunk.before) || isPassage(passage, hunk.after))) return true;
    return effect && hunks.length > 0 && hasInOrder(value, hunks);
  };
}

interface Hunk {
  before: string;
  after: string;
}

function hunksOf(diff: string): readonly Hunk[] {
  const hunks: { before: string[]; after: string[] }[] = [];
  for (const line of diff.split('\n')) {
    const hunk = hunks.at(-1);
    if (line.startsWith('@@')) hunks.push({ before: [], after: [] });
    else if (hunk !== undefined) {
      if (line.startsWith(' ') || line.startsWith('-')) hunk.before.push(line.slice(1));
      if (line.startsWith(' ') || line.startsWith('+')) hunk.after.push(line.slice(1));
    }
  }
  return hunks.map(({ before, after }) => ({ before: before.join('\n'), after: after.join('\n') }));
}

function isPassage(passage: string, text: string): boolean {
  return passage !== '' && text.includes(passage);
}

/** Returns true if the text contains the new lines of all hunks, in order. */
function hasInOrder(text: string, hunks: readonly Hunk[]): boolean {
  let from = 0;
  return hunks.every(({ after }) => {
    const at = text.indexOf(after, from);
    from = at + after.length;
    return after !== '' && at !== -1;
  });
}
