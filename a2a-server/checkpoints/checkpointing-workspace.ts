/**
 * A workspace that saves each file before a tool changes it. All file tools use this workspace, so no file tool can
 * change a file without saving it first. Changes by shell commands are not saved.
 *
 * D2: a change applies only to the content that the person saw. If the file's content differs from the change's `basis`
 * (a hash of that content), the workspace refuses the change and records nothing.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { FileBytes } from '../journal/journal.ts';
import type { FileState, RecordedFileChange } from '../task/events.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import { refuseNonEmptyDirectory } from '../tools/workspace/remove.ts';
import { removalHash, withDescendants, type RemovalEntry } from '../tools/workspace/removal-tree.ts';
import { inputChangedError } from '../tools/workspace/replace-file.ts';
import { contentHashOf, type FileContent } from '../tools/workspace/text-file.ts';

/**
 * Durably records the change and the previous content of the files. If this function throws, the tool must not change
 * the files.
 */
export type RecordFileChanges = (
  files: readonly RecordedFileChange[],
  contents: readonly FileBytes[],
) => Promise<void>;

const ABSENT: FileState = { type: 'absent' };

/**
 * The maximum size that one change saves, e.g. for a deleted directory. The journal records further files as not saved.
 */
const MAX_SAVED_BYTES = 256 * 1024 * 1024;
const MAX_FILES_PER_EVENT = 500;
const MAX_BYTES_PER_APPEND = 8 * 1024 * 1024;

/**
 * Returns a workspace that saves files before it changes them. A change that cannot be saved throws ProductError
 * STORAGE.
 */
export function createCheckpointingWorkspace(workspace: Workspace, record: RecordFileChanges): Workspace {
  // The returned object lists each method of the interface. So a new method of the interface must be added here before
  // the code compiles.
  return {
    root: workspace.root,
    locate: (path) => workspace.locate(path),
    read: (path) => workspace.read(path),
    bytes: (path) => workspace.bytes(path),
    survey: (path, signal) => workspace.survey(path, signal),
    destination: (from, to) => workspace.destination(from, to),
    list: (path) => workspace.list(path),
    walk: (path, options, visit) => workspace.walk(path, options, visit),
    replace(path, replacement) {
      const { content } = replacement;
      const after = contentState({ hash: contentHashOf(content), bytes: Buffer.byteLength(content) });
      return workspace.replace(path, {
        ...replacement,
        beforeChange: (found) =>
          record([{ path: found.path, before: stateOf(found.content), after }], contentsToStore(found)),
      });
    },
    async move(from, to, move) {
      const item = await workspace.survey(from, move.signal);
      const basis = requireUnchangedItem(item, move.basis);
      const target = await workspace.destination(from, to);
      const { state, content } = await itemState(workspace, item);
      // If the content of the source is not saved, the moved file is its only copy. A restoration must not remove that
      // file. So the state of the target before the move counts as not saved too.
      const before = state.type === 'not-saved' ? state : ABSENT;
      await record(
        [
          { path: item.path, before: state, after: ABSENT },
          { path: target, before, after: state },
        ],
        contentsToStore({ content }),
      );
      await workspace.move(from, to, { ...move, basis });
    },
    async remove(path, removal) {
      const item = await workspace.survey(path, removal.signal);
      refuseNonEmptyDirectory(item, removal.recursive);
      const basis = requireUnchangedItem(item, removal.basis);
      await saveAll(workspace, item, record);
      await workspace.remove(path, { ...removal, basis });
    },
  };
}

/** Saves all files below an item. Directories are not saved, because a restoration creates them with their files. */
async function saveAll(workspace: Workspace, item: RemovalEntry, record: RecordFileChanges): Promise<void> {
  let total = 0;
  let waiting = 0;
  let files: RecordedFileChange[] = [];
  let contents: FileBytes[] = [];
  for (const each of withDescendants(item).filter(({ kind }) => kind !== 'directory')) {
    const room = total + each.bytes <= MAX_SAVED_BYTES;
    const found: StateWithContent = room
      ? await itemState(workspace, each)
      : { state: notSaved('the change is too large to save') };
    const length = found.content?.bytes.length ?? 0;
    total += length;
    waiting += length;
    files.push({ path: each.path, before: found.state, after: ABSENT });
    contents.push(...contentsToStore(found));
    if (files.length < MAX_FILES_PER_EVENT && waiting < MAX_BYTES_PER_APPEND) continue;
    await record(files, contents);
    waiting = 0;
    files = [];
    contents = [];
  }
  // The removal of an empty directory changes the workspace too. So the journal must record the tool's start before it.
  if (files.length > 0 || total === 0) await record(files, contents);
}

function contentsToStore({ content }: Pick<StateWithContent, 'content'>): FileBytes[] {
  return content ? [{ hash: content.hash, bytes: content.bytes }] : [];
}

function requireUnchangedItem(item: RemovalEntry, shown: string | null): string {
  const now = removalHash(item);
  if (shown !== null && shown !== now) throw inputChangedError(item.path);
  return now;
}

interface StateWithContent {
  state: FileState;
  content?: FileContent | undefined;
}

/** Returns the state of an item. For a link, this is the state of the link itself, not of its target. */
async function itemState(workspace: Workspace, { kind, path }: RemovalEntry): Promise<StateWithContent> {
  if (kind === 'file') return readFileState(workspace, path);
  return { state: notSaved(kind === 'link' ? 'a link' : 'not a regular file') };
}

/** Returns the file's current state. Also returns the content if the server can save it. */
export async function readFileState(
  workspace: Workspace,
  path: string,
): Promise<StateWithContent & { path: string }> {
  try {
    const content = await workspace.bytes(path);
    if (content === undefined) return { path: (await workspace.locate(path)).path, state: stateOf(content) };
    return { path: content.path, state: stateOf(content), content };
  } catch (error) {
    // A larger file is not saved. File tools have the same size limit, so they cannot change such a file.
    if (!(error instanceof ProductError) || error.reason !== 'TOO_LARGE') throw error;
    return { path: (await workspace.locate(path)).path, state: notSaved('too large') };
  }
}

function notSaved(why: string): FileState {
  return { type: 'not-saved', why };
}

function stateOf(content: FileContent | undefined): FileState {
  if (content === undefined) return ABSENT;
  const { hash, bytes, mode } = content;
  return contentState({ hash, bytes: bytes.length, mode });
}

function contentState(content: { hash: string; bytes: number; mode?: number }): FileState {
  return { type: 'content', ...content };
}
