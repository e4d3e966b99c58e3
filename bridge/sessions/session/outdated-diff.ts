/**
 * Compares the files of approved calls with what the person saw, before the approval is sent. D2: a decision is valid
 * only for what the person saw.
 */
import { isFileUnchanged, withCurrentDiff, type FileProposal } from '../../dialects/unbound-proposal.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import type { TaskView } from './observed-task.ts';

/**
 * Reads a file that an agent names. Returns '' if the file does not exist. Returns undefined if the bridge cannot read
 * the agent's files; nothing is compared then.
 */
type ReadFile = (path: string) => Promise<string | undefined>;

interface OutdatedDiff {
  action: PendingAction;
  file: FileProposal;
}

/**
 * Compares the files that these calls would change with what the person saw.
 * @returns the first call whose file has changed, with a new diff; undefined if no file has changed
 */
export async function findOutdatedDiff(
  callIds: readonly string[],
  view: Pick<TaskView, 'pending' | 'proposals'>,
  read: ReadFile,
): Promise<OutdatedDiff | undefined> {
  for (const callId of callIds) {
    const file = view.proposals?.get(callId)?.file ?? null;
    const action = view.pending.find((each) => each.callId === callId);
    if (file === null || action === undefined) continue;
    const now = await read(file.path);
    if (now !== undefined && !isFileUnchanged(file, now)) return withCurrentDiff(action, file, now);
  }
  return undefined;
}

export function outdatedDiffError({ action: { callId }, file: { path } }: OutdatedDiff): ProductError {
  return new ProductError(
    'INPUT_CHANGED',
    `"${path}" has changed since the change to it was shown; nothing was sent. Show the person the change to the file as it is now (wait_for_task), and decide again.`,
    { facts: { callId, path } },
  );
}
