/** The files of calls that are about to be approved, compared with what the person was shown (D2). */
import { isCurrent, outdated, type FileProposal } from '../dialects/proposal.ts';
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import type { TaskView } from './task-view.ts';

/**
 * The text of a file that an agent names, '' for one that does not exist. Undefined where this machine cannot read what the
 * agent sees, so that nothing can be compared.
 */
export type ReadFile = (path: string) => Promise<string | undefined>;

/** @returns the first of these calls whose file has changed, shown against the content now */
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
    if (now !== undefined && !isCurrent(file, now)) return outdated(action, file, now);
  }
  return undefined;
}
