/**
 * A workspace in which nothing is changed before what it was is kept: intent before effect, for files.
 *
 * It stands where every file tool reaches its files, so that no tool can forget it. What a shell command changes does not
 * pass through here.
 *
 * D2: a file that is no longer what the change was made from is refused here, before anything is recorded.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { FileBytes } from '../journal/journal.ts';
import type { FileState, SavedFile } from '../task/events.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import { refuseFull } from '../tools/workspace/remove.ts';
import { basisOf, itemsOf, type SurveyEntry } from '../tools/workspace/survey.ts';
import { changed } from '../tools/workspace/replace-file.ts';
import { ABSENT as NO_FILE, hashOf, type FileContent } from '../tools/workspace/text-file.ts';

/**
 * Makes durable what a change is about to do, and what the files hold until then. @throws when it cannot: the change is
 * then not made.
 */
export type RecordSaved = (files: readonly SavedFile[], contents: readonly FileBytes[]) => Promise<void>;

const ABSENT: FileState = { type: 'absent' };

/** Bytes kept for one change, of a directory that is deleted with all it holds: the rest of it is not saved, and said so. */
const MAX_KEPT_AT_ONCE = 256 * 1024 * 1024;
/** Files in one event, and bytes in one append. */
const RECORDED_AT_ONCE = 500;
const BYTES_AT_ONCE = 8 * 1024 * 1024;

/** @returns the same workspace, whose changes throw ProductError STORAGE in the place of being made unkept. */
export function savingWorkspace(workspace: Workspace, record: RecordSaved): Workspace {
  // Each by its name: what comes to be able to change files does not compile before it is thought of here.
  return {
    root: workspace.root,
    locate: (path) => workspace.locate(path),
    read: (path) => workspace.read(path),
    bytes: (path) => workspace.bytes(path),
    survey: (path, signal) => workspace.survey(path, signal),
    destination: (from, to) => workspace.destination(from, to),
    list: (path) => workspace.list(path),
    walk: (path, options, visit) => workspace.walk(path, options, visit),
    async replace(path, replacement) {
      const { content } = replacement;
      const after = contentState({ hash: hashOf(content), bytes: Buffer.byteLength(content) });
      const found = await fileStateOf(workspace, path);
      const now = found.state.type === 'absent' ? NO_FILE : found.content?.hash;
      if (now !== undefined && now !== replacement.basis) throw changed(found.path);
      await record([{ path: found.path, before: found.state, after }], kept(found));
      await workspace.replace(path, replacement);
    },
    async move(from, to, move) {
      const item = await workspace.survey(from, move.signal);
      const basis = unchanged(item, move.basis);
      const target = await workspace.destination(from, to);
      const { state, content } = await itemState(workspace, item);
      // What cannot be put back where it was is not to be taken from where it has gone.
      const before = state.type === 'not-saved' ? state : ABSENT;
      await record(
        [
          { path: item.path, before: state, after: ABSENT },
          { path: target, before, after: state },
        ],
        kept({ content }),
      );
      await workspace.move(from, to, { ...move, basis });
    },
    async remove(path, removal) {
      const item = await workspace.survey(path, removal.signal);
      refuseFull(item, removal.recursive);
      const basis = unchanged(item, removal.basis);
      await saveAll(workspace, item, record);
      await workspace.remove(path, { ...removal, basis });
    },
  };
}

/** Everything an item holds; a directory itself is made again with what was in it. */
async function saveAll(workspace: Workspace, item: SurveyEntry, record: RecordSaved): Promise<void> {
  let total = 0;
  let waiting = 0;
  let files: SavedFile[] = [];
  let contents: FileBytes[] = [];
  for (const each of itemsOf(item).filter(({ kind }) => kind !== 'directory')) {
    const room = total + each.bytes <= MAX_KEPT_AT_ONCE;
    const found: Found = room ? await itemState(workspace, each) : { state: notSaved('too much at once') };
    const length = found.content?.bytes.length ?? 0;
    total += length;
    waiting += length;
    files.push({ path: each.path, before: found.state, after: ABSENT });
    contents.push(...kept(found));
    if (files.length < RECORDED_AT_ONCE && waiting < BYTES_AT_ONCE) continue;
    await record(files, contents);
    waiting = 0;
    files = [];
    contents = [];
  }
  // An empty directory is a change as well: its start is recorded.
  if (files.length > 0 || total === 0) await record(files, contents);
}

function kept({ content }: Pick<Found, 'content'>): FileBytes[] {
  return content ? [{ hash: content.hash, bytes: content.bytes }] : [];
}

/** @throws ProductError INPUT_CHANGED for what is not what was shown. */
function unchanged(item: SurveyEntry, shown: string | null): string {
  const now = basisOf(item);
  if (shown !== null && shown !== now) throw changed(item.path);
  return now;
}

interface Found {
  state: FileState;
  content?: FileContent | undefined;
}

/** What is named is the link, where it is one, and not what that leads to. */
async function itemState(workspace: Workspace, { kind, path }: SurveyEntry): Promise<Found> {
  if (kind === 'file') return fileStateOf(workspace, path);
  return { state: notSaved(kind === 'link' ? 'a link' : 'not a regular file') };
}

/** What the file is now, with what it holds where that may be kept. */
export async function fileStateOf(workspace: Workspace, path: string): Promise<Found & { path: string }> {
  try {
    const content = await workspace.bytes(path);
    if (content === undefined) return { path: (await workspace.locate(path)).path, state: ABSENT };
    const { hash, bytes, mode } = content;
    return { path: content.path, state: contentState({ hash, bytes: bytes.length, mode }), content };
  } catch (error) {
    // The same limit keeps the file tools from reading it: what they can work on can be kept.
    if (!(error instanceof ProductError) || error.reason !== 'TOO_LARGE') throw error;
    return { path: (await workspace.locate(path)).path, state: notSaved('too large') };
  }
}

function notSaved(why: string): FileState {
  return { type: 'not-saved', why };
}

function contentState(content: { hash: string; bytes: number; mode?: number }): FileState {
  return { type: 'content', ...content };
}
