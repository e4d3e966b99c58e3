import { formatPatch, OMIT_HEADERS, parsePatch, structuredPatch, type StructuredPatchHunk } from 'diff';

/**
 * The maximum number of changed lines for a minimal diff. If two texts differ more, the diff replaces the whole old
 * text with the whole new text. Finding a minimal diff takes quadratic time, about 0.1 s at this limit. A person cannot
 * read a longer diff anyway.
 */
const MAX_EDITS = 1000;

const CONTEXT_LINES = 3;

/** Stands for a missing file in the header of a unified diff. */
const NO_FILE = '/dev/null';

/**
 * Returns a unified diff of one text file, in the format of `git` and `patch`. For equal texts, it contains only the
 * two header lines.
 * @param before the old content. Undefined if the file does not exist; the diff then names `/dev/null`.
 * @param after the new content. Undefined if the change removes the file; the diff then names `/dev/null`.
 */
export function unifiedFileDiff(path: string, before: string | undefined, after: string | undefined): string {
  const names = {
    from: before === undefined ? NO_FILE : `a/${path}`,
    to: after === undefined ? NO_FILE : `b/${path}`,
  };
  return unifiedDiffOfTexts(names, before ?? '', after ?? '');
}

/** Returns a unified diff of two texts. `names` are the names in its header. */
export function unifiedDiffOfTexts(
  { from, to }: Readonly<Record<'from' | 'to', string>>,
  before: string,
  after: string,
): string {
  const hunks = shortestHunks(before, after) ?? [wholeReplacement(before, after)];
  return `--- ${diffFileName(from)}\n+++ ${diffFileName(to)}\n${hunks.length === 0 ? '' : textOf(hunks)}`;
}

/** Matches the characters that `git` quotes in a name if `core.quotePath` is off. */
const QUOTED_CHARACTER = /(?=\p{ASCII})[\p{Cc}"\\]/gu;
const QUOTED_AS: Readonly<Record<string, string>> = { '\t': 't', '\n': 'n', '\r': 'r', '"': '"', '\\': '\\' };

/**
 * Returns a file name for one line of a diff. Quotes only what would break the line, as `git` does if `core.quotePath` is
 * off. So a person can read a name in any script.
 */
export function diffFileName(name: string): string {
  const quoted = name.replaceAll(
    QUOTED_CHARACTER,
    (character) => `\\${QUOTED_AS[character] ?? character.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  // Without quotes, a parser cannot tell whether a space at an end of the name belongs to the name or to the header.
  return quoted === name && name === name.trim() ? name : `"${quoted}"`;
}

function textOf(hunks: StructuredPatchHunk[]): string {
  const noNames = { oldFileName: '', newFileName: '', oldHeader: undefined, newHeader: undefined };
  return formatPatch({ ...noNames, hunks }, OMIT_HEADERS);
}

/** Returns undefined if the texts differ by more than `MAX_EDITS` lines. */
function shortestHunks(before: string, after: string): StructuredPatchHunk[] | undefined {
  const part = differingPart(before, after);
  // Without this test, the library would first split both texts into lines, which takes long for long texts.
  if (Math.abs(countLineFeeds(part.before) - countLineFeeds(part.after)) > MAX_EDITS + 1) return undefined;
  const found = structuredPatch('', '', part.before, part.after, undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDITS,
  });
  return found?.hunks.map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + part.skippedLines,
    newStart: hunk.newStart + part.skippedLines,
  }));
}

/**
 * Cuts off the equal beginning and the equal end of two texts, except for the lines of the context. X3: the library needs
 * seconds for a million equal lines.
 */
function differingPart(
  before: string,
  after: string,
): { before: string; after: string; skippedLines: number } {
  const shorter = Math.min(before.length, after.length);
  let equal = 0;
  while (equal < shorter && before.charCodeAt(equal) === after.charCodeAt(equal)) equal += 1;
  const differs = lineFeedUpTo(before, equal - 1) + 1;
  let equalAtEnd = 0;
  while (
    equalAtEnd < shorter - differs &&
    before.charCodeAt(before.length - 1 - equalAtEnd) === after.charCodeAt(after.length - 1 - equalAtEnd)
  )
    equalAtEnd += 1;
  const start = lineStartAbove(before, differs, CONTEXT_LINES);
  const end = lineStartBelow(before, before.length - equalAtEnd, CONTEXT_LINES + 1);
  return {
    before: before.slice(start, end),
    after: after.slice(start, after.length - (before.length - end)),
    skippedLines: countLineFeeds(before.slice(0, start)),
  };
}

/** Returns the start of the line that is `lines` above the line that starts at `at`. */
function lineStartAbove(text: string, at: number, lines: number): number {
  let start = at;
  for (let left = lines; left > 0 && start > 0; left -= 1) start = lineFeedUpTo(text, start - 2) + 1;
  return start;
}

/** Like `lastIndexOf`, but returns -1 for a negative `at`, where `lastIndexOf` searches at 0. */
function lineFeedUpTo(text: string, at: number): number {
  return at < 0 ? -1 : text.lastIndexOf('\n', at);
}

/** Returns the position after the next `lines` line feeds, or the end of the text. */
function lineStartBelow(text: string, at: number, lines: number): number {
  let end = at;
  for (let left = lines; left > 0; left -= 1) {
    const feed = text.indexOf('\n', end);
    if (feed === -1) return text.length;
    end = feed + 1;
  }
  return end;
}

function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

export interface LineCounts {
  added: number;
  removed: number;
}

/** Counts the lines that a unified diff adds, and the lines that it removes. */
export function countDiffLines(diff: string): LineCounts {
  const lines = parsePatch(diff).flatMap(({ hunks }) => hunks.flatMap((hunk) => hunk.lines));
  return {
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
  };
}

function wholeReplacement(before: string, after: string): StructuredPatchHunk {
  const removed = sideOf('-', before);
  const added = sideOf('+', after);
  return {
    oldStart: 1,
    oldLines: removed.count,
    newStart: 1,
    newLines: added.count,
    lines: [...removed.lines, ...added.lines],
  };
}

function sideOf(sign: '-' | '+', text: string): { lines: string[]; count: number } {
  if (text === '') return { lines: [], count: 0 };
  const ended = text.endsWith('\n');
  const lines = (ended ? text.slice(0, -1) : text).split('\n').map((line) => sign + line);
  return { lines: ended ? lines : [...lines, '\\ No newline at end of file'], count: lines.length };
}
