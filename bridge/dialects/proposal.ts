/**
 * What an agent proposes to do, for agents that bind a decision to nothing: the bridge compares the file with what the person
 * was shown, and binds the decision in the agent's place (D2). Pure.
 */
import { shownCode } from '../../shared/protocol/shown-code.ts';
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import { unifiedDiff } from '../../shared/text/unified-diff.ts';

export interface Proposal {
  /** Names what the agent asked, whatever the bridge shows of it: of one proposal, one decision may leave (E2). */
  code: string;
  /** The file that it would change; null for any other call. */
  file: FileProposal | null;
}

export interface FileProposal {
  /** Absolute, on the agent's machine. */
  path: string;
  /** The content that the diff shown to the person starts from; '' for no file. */
  before: string;
  /** The whole new content, as the agent proposes it. */
  after: string;
  /** Where the agent replaces only this text by that. */
  part: { from: string; to: string } | null;
}

/** Whether the file still has the content that the person was shown. The agent drops byte order marks and CR before LF. */
export function isCurrent({ before }: FileProposal, now: string): boolean {
  return plain(before) === plain(now);
}

/** The action against the file as it is now: another question, with another code. */
export function outdated(
  action: PendingAction,
  file: FileProposal,
  now: string,
): { action: PendingAction; file: FileProposal } {
  const shown = shownCode(action.shown, now);
  const preview = { type: 'diff', path: file.path, diff: currentDiff(file, now) } as const;
  return {
    action: { ...action, shown, preview, reason: 'content-changed' },
    file: { ...file, before: now },
  };
}

function currentDiff({ path, after, part }: FileProposal, now: string): string {
  const whole = part && plain(now).includes(part.from) ? replaced(plain(now), part) : after;
  return unifiedDiff(path.replace(/^\/+/, ''), plain(now), whole);
}

function replaced(text: string, { from, to }: { from: string; to: string }): string {
  return text.replaceAll(from, () => to);
}

function plain(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}
