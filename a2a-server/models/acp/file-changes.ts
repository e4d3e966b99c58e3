/**
 * Builds the diffs of an ACP agent's permission request from the files on disk. D2: a decision binds to what was shown.
 * So the diff shows the real change and not the agent's description.
 *
 * ACP v1, tool calls: a diff has the `oldText` and `newText` of a file. Some agents send whole files. Other agents send
 * only the replaced part. Some agents send no `oldText` for an existing file.
 */
import { isAbsolute } from 'node:path';
import { sha256 } from '../../../shared/runtime/sha256.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { unifiedFileDiff } from '../../../shared/text/unified-diff.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';
import { ABSENT_FILE_BASIS } from '../../tools/workspace/text-file.ts';
import { asRelativePath, type AcpFileDiff } from './read-tool-call.ts';

/** The state of a file on disk. `unreadable` means that the file is outside the workspace, or is not text. */
export type CurrentFile =
  | { type: 'text'; text: string; hash: string }
  | { type: 'absent' }
  | { type: 'unreadable' };

/** @param places paths relative to the workspace; absolute for files outside */
export async function readCurrentFiles(
  places: readonly string[],
  workspace: Workspace,
): Promise<Map<string, CurrentFile>> {
  const files = new Map<string, CurrentFile>();
  for (const place of places) files.set(place, await readFile(place, workspace));
  return files;
}

async function readFile(place: string, workspace: Workspace): Promise<CurrentFile> {
  if (isAbsolute(place)) return { type: 'unreadable' };
  try {
    const file = await workspace.read(place);
    return file ? { type: 'text', text: file.content, hash: file.hash } : { type: 'absent' };
  } catch {
    return { type: 'unreadable' };
  }
}

/**
 * Returns a hash of the current contents of the files whose changes the person sees. D2: a decision is valid only for
 * these contents.
 */
export function basisOfFiles(files: ReadonlyMap<string, CurrentFile>): string {
  const hashes = [...files.values()].map((file) => {
    switch (file.type) {
      case 'text':
        return file.hash;
      case 'absent':
        return ABSENT_FILE_BASIS;
      case 'unreadable':
        return file.type;
    }
  });
  return sha256(hashes.join('\n'));
}

/**
 * Returns one diff per file, from the content on disk to the agent's new content. If the agent's old content differs
 * from the disk, a `#` line before the diff reports this.
 * @param rawInput the input of the agent's tool. It shows which diffs replace only a part of their file.
 */
export function acpDiffsText(
  diffs: readonly AcpFileDiff[],
  { files, root, rawInput }: { files: ReadonlyMap<string, CurrentFile>; root: string; rawInput: unknown },
): string {
  const parts = acpReplacementsIn(rawInput);
  const places = [...new Set(diffs.map(({ path }) => asRelativePath(root, path)))];
  return places
    .map((place) => {
      const own = diffs.filter(({ path }) => asRelativePath(root, path) === place);
      return diffOf(place, own, { now: files.get(place) ?? { type: 'unreadable' }, parts });
    })
    .join('\n');
}

function diffOf(
  place: string,
  diffs: readonly AcpFileDiff[],
  { now, parts }: { now: CurrentFile; parts: Replacements },
): string {
  const name = oneLineExcerpt(place, 1000);
  if (now.type === 'unreadable') {
    const claimed = diffs.map(({ oldText, newText }) => unifiedFileDiff(name, oldText ?? undefined, newText));
    return withNotes(claimed.join('\n'), [
      `${name} cannot be read as text in the workspace. This diff is the agent's own.`,
    ]);
  }
  const before = now.type === 'text' ? now.text : undefined;
  const notes: string[] = [];
  let after = before;
  for (const diff of diffs) {
    const change = acpDiffResult(after, diff, parts);
    if (change.note !== undefined) notes.push(NOTES[change.note](name));
    after = change.after;
  }
  return withNotes(unifiedFileDiff(name, before, after ?? ''), notes);
}

type NoteKind = keyof typeof NOTES;

const NOTES = {
  exists: (name: string) =>
    `The agent says that ${name} is a new file, but it exists. The change replaces all of it.`,
  missing: (name: string) => `The agent says that it changes ${name}, but there is no such file.`,
  part: (name: string) =>
    `The agent gives only a part of ${name} as its old content. It may replace the whole file, as shown here.`,
  differs: (name: string) =>
    `The agent's change does not start from the current content of ${name}. This diff does.`,
  gone: (name: string) =>
    `${name} does not contain the text that the agent would replace. This diff puts the new text at its end.`,
};

/**
 * Applies one diff of the agent. `note` names the difference between the agent's old content and the content on disk.
 */
export function acpDiffResult(
  before: string | undefined,
  { oldText, newText }: AcpFileDiff,
  parts: Replacements,
): { after: string; note?: NoteKind } {
  const part = oldText === null || oldText === '' ? undefined : parts.get(oldText);
  if (part && oldText !== null && before !== undefined && before !== oldText) {
    if (!before.includes(oldText)) return { after: before + newText, note: 'gone' };
    const after =
      part === 'all' ? before.replaceAll(oldText, () => newText) : before.replace(oldText, () => newText);
    return { after };
  }
  const note = noteOn(before, oldText);
  return { after: newText, ...(note && { note }) };
}

function noteOn(before: string | undefined, oldText: string | null): NoteKind | undefined {
  if ((before ?? '') === (oldText ?? '') && (before === undefined || oldText !== null)) return undefined;
  if (before === undefined) return 'missing';
  if (oldText === null) return 'exists';
  return oldText !== '' && before.includes(oldText) ? 'part' : 'differs';
}

function withNotes(diff: string, notes: readonly string[]): string {
  return [...new Set(notes).values()].map((note) => `# ${note}\n`).join('') + diff;
}

/** The texts that an edit replaces, and whether the edit replaces the first occurrence or all. */
type Replacements = ReadonlyMap<string, 'first' | 'all'>;

/** Matches `old_string` (Claude, gemini-cli), `oldString` (OpenCode) and `old_str` (text editor tools). */
const OLD_TEXT_KEY = /^old_?(?:string|str)$/i;
const REPLACE_ALL_KEY = /^(?:replace_?all|allow_?multiple)$/i;

/** The maximum depth of the search for edits. An edit is in the input itself or in a nested list. */
const MAX_DEPTH = 4;

export function acpReplacementsIn(rawInput: unknown): Replacements {
  const found = new Map<string, 'first' | 'all'>();
  collect(rawInput, found, MAX_DEPTH);
  return found;
}

function collect(value: unknown, found: Map<string, 'first' | 'all'>, depth: number): void {
  if (typeof value !== 'object' || value === null || depth === 0) return;
  const entries = Object.entries(value);
  const all = entries.some(([key, each]) => REPLACE_ALL_KEY.test(key) && each === true);
  for (const [key, each] of entries) {
    if (typeof each === 'string' && OLD_TEXT_KEY.test(key)) found.set(each, all ? 'all' : 'first');
    else collect(each, found, depth - 1);
  }
}
