/** Compares the files of approved calls with the content that the person saw (D2). Runs before the approval is sent. */
import { isCurrent, outdatedAction, type FileProposal } from '../dialects/proposal.ts';
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import type { TaskView } from './task-view.ts';

/**
 * The text of a file that an agent names; '' if the file does not exist. Undefined if this machine cannot read the
 * agent's files. Then nothing is compared.
 */
type ReadFile = (path: string) => Promise<string | undefined>;

/** @returns the first call whose file has changed, with a diff against the current content */
export async function outdatedCall(
  callIds: readonly string[],
  view: Pick<TaskView, 'pending' | 'proposals'>,
  read: ReadFile,
): Promise<{ action: PendingAction; file: FileProposal } | undefined> {
  for (const callId of callIds) {
    const file = view.proposals?.get(callId)?.file ?? null;
    const action = view.pending.find((each) => each.callId === callId);
    if (file === null || action === undefined) continue;
    const now = await read(file.path);
    if (now !== undefined && !isCurrent(file, now)) return outdatedAction(action, file, now);
  }
  return undefined;
}
