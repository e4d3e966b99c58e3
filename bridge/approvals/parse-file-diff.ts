/** Reads the changed lines of one file from a unified diff, without context lines. Pure. */

export interface FileDiff {
  kind: 'create' | 'delete' | 'change';
  added: number;
  removed: number;
  /**
   * One line number for each group of adjacent changed lines: where the group starts in the new file. For a group that
   * only removes lines, it is the number of the next line.
   */
  at: readonly number[];
  lines: readonly ChangedLine[];
}

interface ChangedLine {
  sign: '+' | '-';
  text: string;
  /** True if this is the last line of the file and has no line feed. */
  open?: true;
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const NO_LINE_FEED = '\\ No newline at end of file';

/** Parses a unified diff of one file. Returns undefined if the text is not the complete diff of one file. */
export function parseFileDiff(diff: string): FileDiff | undefined {
  const all = (diff.endsWith('\n') ? diff.slice(0, -1) : diff).split('\n');
  const start = all.findIndex((line) => HUNK.test(line));
  const headers = start < 0 ? all : all.slice(0, start);
  if (!headers.every(isHeader)) return undefined;
  const lines: ChangedLine[] = [];
  const at: number[] = [];
  for (let index = headers.length; index < all.length;) {
    const hunk = hunkAt(all, index);
    if (hunk === undefined) return undefined;
    // A hunk may have more lines than a call can have arguments. So `push(...)` would overflow the stack.
    for (const line of hunk.lines) lines.push(line);
    for (const number of hunk.at) at.push(number);
    index = hunk.end;
  }
  const added = lines.filter(({ sign }) => sign === '+').length;
  return { kind: kindOf(headers), added, removed: lines.length - added, at, lines };
}

function isHeader(line: string): boolean {
  return /^(?:--- |\+\+\+ |Index: |=+$|$)/.test(line);
}

function kindOf(headers: readonly string[]): FileDiff['kind'] {
  if (headers.some((line) => /^--- \/dev\/null(?:\t|$)/.test(line))) return 'create';
  return headers.some((line) => /^\+\+\+ \/dev\/null(?:\t|$)/.test(line)) ? 'delete' : 'change';
}

interface Hunk {
  lines: readonly ChangedLine[];
  at: readonly number[];
  end: number;
}

/**
 * Reads one hunk. The line counts in its header show where it ends. The first characters of a line do not show this:
 * the removed line `-- x` is `--- x` in the diff, like a file header.
 */
function hunkAt(all: readonly string[], start: number): Hunk | undefined {
  const header = HUNK.exec(all[start] ?? '');
  if (header === null) return undefined;
  const [, oldCount = '1', from = '1', newCount = '1'] = header;
  let oldLeft = Number(oldCount);
  let newLeft = Number(newCount);
  let line = Number(from) + (newLeft === 0 ? 1 : 0);
  let inChange = false;
  const lines: ChangedLine[] = [];
  const at: number[] = [];
  let index = start + 1;
  for (; oldLeft > 0 || newLeft > 0 || all[index] === NO_LINE_FEED; index += 1) {
    const whole = all[index];
    if (whole === undefined) return undefined;
    const sign = whole.charAt(0);
    if (whole === NO_LINE_FEED) {
      const last = lines.at(-1);
      if (inChange && last !== undefined) lines[lines.length - 1] = { ...last, open: true };
      continue;
    }
    if (sign === '+' || sign === '-') {
      if (!inChange) at.push(line);
      inChange = true;
      lines.push({ sign, text: whole.slice(1) });
    } else if (sign === ' ' || whole === '') inChange = false;
    else return undefined;
    if (sign !== '+') oldLeft -= 1;
    if (sign !== '-') {
      newLeft -= 1;
      line += 1;
    }
    if (oldLeft < 0 || newLeft < 0) return undefined;
  }
  return { lines, at, end: index };
}
