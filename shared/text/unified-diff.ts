import { createTwoFilesPatch, FILE_HEADERS_ONLY, formatPatch, parsePatch } from 'diff';

/**
 * The maximum number of changed lines for a minimal diff. If two texts differ more, the diff replaces the whole old
 * text with the whole new text. Finding a minimal diff takes quadratic time, about 0.1 s at this limit. A person cannot
 * read a longer diff anyway.
 */
const MAX_EDITS = 1000;

const CONTEXT_LINES = 3;

/**
 * Returns a unified diff of one text file, in the format of `git` and `patch`. For equal texts, it contains only the
 * two header lines.
 * @param before the old content. Undefined if the file does not exist; the diff then names `/dev/null`.
 */
export function unifiedDiff(path: string, before: string | undefined, after: string): string {
  const oldName = before === undefined ? '/dev/null' : `a/${path}`;
  const newName = `b/${path}`;
  const shortest = createTwoFilesPatch(oldName, newName, before ?? '', after, undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDITS,
    headerOptions: FILE_HEADERS_ONLY,
  });
  return shortest ?? wholeReplacement(oldName, newName, { before: before ?? '', after });
}

export interface LineCounts {
  added: number;
  removed: number;
}

/** Counts the lines that a unified diff adds, and the lines that it removes. */
export function countLines(diff: string): LineCounts {
  const lines = parsePatch(diff).flatMap(({ hunks }) => hunks.flatMap((hunk) => hunk.lines));
  return {
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
  };
}

function wholeReplacement(
  oldFileName: string,
  newFileName: string,
  { before, after }: { before: string; after: string },
): string {
  const removed = sideOf('-', before);
  const added = sideOf('+', after);
  const hunk = {
    oldStart: 1,
    oldLines: removed.count,
    newStart: 1,
    newLines: added.count,
    lines: [...removed.lines, ...added.lines],
  };
  const patch = { oldFileName, newFileName, oldHeader: undefined, newHeader: undefined, hunks: [hunk] };
  return formatPatch(patch, FILE_HEADERS_ONLY);
}

function sideOf(sign: '-' | '+', text: string): { lines: string[]; count: number } {
  if (text === '') return { lines: [], count: 0 };
  const ended = text.endsWith('\n');
  const lines = (ended ? text.slice(0, -1) : text).split('\n').map((line) => sign + line);
  return { lines: ended ? lines : [...lines, '\\ No newline at end of file'], count: lines.length };
}
