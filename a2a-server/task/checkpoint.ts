/**
 * Checkpoints: what the files of a workspace were before a turn changed them. A fold of the task's journal (J2), and what
 * putting them back means. Pure.
 */
import type { FileState } from './events.ts';
import type { Call, Snapshot } from './snapshot.ts';

/** The changes of one turn. Only what file tools changed is known; commands change what they like. */
export interface Checkpoint {
  /** The task and the turn: `task-….3`. */
  id: string;
  taskId: string;
  sessionId: string;
  turn: number;
  /** When the first change was about to be made, in milliseconds since the epoch. */
  at: number;
  /** Absolute path; empty where the task had none, which no task with files is. */
  workspace: string;
  files: readonly CheckpointFile[];
  /** Titles of what else was run in the turn and may have changed files. */
  commands: readonly string[];
}

export interface CheckpointFile {
  path: string;
  /** Before the turn's first change. */
  before: FileState;
  /** What each of the turn's changes has made of it, the last one last. */
  after: readonly FileState[];
}

export function checkpointId(taskId: string, turn: number): string {
  return `${taskId}.${turn}`;
}

/** Oldest first. */
export function checkpointsOf(snapshot: Snapshot): Checkpoint[] {
  const turns = groupedBy(Object.values(snapshot.calls), (call) => call.turn);
  return [...turns].flatMap(([turn, calls]) => checkpointOf(snapshot, turn, calls) ?? []);
}

/** In the order of each group's first member. */
function groupedBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function checkpointOf(snapshot: Snapshot, turn: number, calls: readonly Call[]): Checkpoint | undefined {
  const saved = calls.flatMap((call) => call.saved ?? []).toSorted((a, b) => a.at - b.at);
  const [first] = saved;
  if (first === undefined) return undefined;
  const { taskId, sessionId, settings } = snapshot;
  const files = [...groupedBy(saved, ({ path }) => path)].flatMap(([path, changes]) => {
    const [earliest] = changes;
    return earliest ? [{ path, before: earliest.before, after: changes.map(({ after }) => after) }] : [];
  });
  const commands = calls.filter(mayChangeFiles).map(({ title }) => title);
  return {
    id: checkpointId(taskId, turn),
    taskId,
    sessionId,
    turn,
    at: first.at,
    workspace: settings.workspace ?? '',
    files,
    commands,
  };
}

/** What was begun, and is none of the server's own file tools, whose changes are kept. */
function mayChangeFiles({ sideEffect, source, toolId }: Call): boolean {
  if (toolId === null || sideEffect === 'none') return false;
  return source.type !== 'built-in' || sideEffect === 'command' || sideEffect === 'other';
}

/** What is done with one file to put it back. */
export type Restoration =
  /** It is what it was before the turn. */
  | { type: 'nothing'; path: string }
  | { type: 'put-back'; path: string; now: FileState; before: Exclude<FileState, { type: 'not-saved' }> }
  /** Somebody else has changed it since: nothing of theirs may be lost. */
  | { type: 'changed-since'; path: string; now: FileState }
  | { type: 'not-saved'; path: string; why: string };

/**
 * @param now what the file is. A file that is in any state the turn has left it in is as the turn left it: what a crash or
 * a failure kept from being done is no change of somebody else's.
 */
export function restoration({ path, before, after }: CheckpointFile, now: FileState): Restoration {
  if (before.type === 'not-saved') return { type: 'not-saved', path, why: before.why };
  if (sameState(now, before)) return { type: 'nothing', path };
  return after.some((state) => sameState(now, state))
    ? { type: 'put-back', path, now, before }
    : { type: 'changed-since', path, now };
}

/** Whether a file that is in one state is in the other. What was not kept is known to be no other's equal. */
export function sameState(one: FileState, other: FileState): boolean {
  switch (one.type) {
    case 'content':
      return other.type === 'content' && other.hash === one.hash;
    case 'absent':
      return other.type === 'absent';
    case 'not-saved':
      return false;
  }
}
