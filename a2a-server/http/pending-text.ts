/** What waits for a person, in words: for clients that know nothing of the approval extension, and for logs of those that do. */
import type { PendingAction, Preview } from '../../shared/protocol/tool-approval.ts';

/** Longer previews are cut in the text; the data part of the extension has them whole. */
const PREVIEW_LIMIT = 8_000;

const BECAUSE: Readonly<Record<PendingAction['reason'], string>> = {
  approval: '',
  'outcome-unknown':
    ' It was running when the server stopped, and nobody knows how far it came: approve runs it again, deny skips it.',
  'content-changed': ' What was shown before has changed in the meantime; this is how it stands now.',
};

export function pendingText(pending: readonly PendingAction[]): string {
  const [first, second] = pending;
  if (first === undefined) return 'The task waits for input.';
  if (second === undefined) return `${described(first)}\n\nAnswer with exactly "approve" or "deny".`;
  const actions = pending.map((action, index) => `${index + 1}. ${described(action)}`);
  return `${pending.length} actions wait for a decision.\n\n${actions.join('\n\n')}\n\nDecide each by its call id (${pending
    .map(({ callId }) => callId)
    .join(', ')}), with a decisions part of the tool-approval extension.`;
}

function described({ title, tool, callId, reason, preview, expiresAt }: PendingAction): string {
  const until = expiresAt === null ? '' : ` It waits until ${expiresAt}.`;
  return `The agent wants to run ${tool}: ${title} (call ${callId}).${BECAUSE[reason]}${until}\n\n${cut(shown(preview))}`;
}

function shown(preview: Preview): string {
  switch (preview.type) {
    case 'diff':
      return preview.diff;
    case 'command':
      return `$ ${preview.command}\n(in ${preview.cwd})`;
    case 'url':
      return preview.url;
    case 'json':
      return JSON.stringify(preview.value, null, 2) ?? '';
  }
}

function cut(text: string): string {
  return text.length <= PREVIEW_LIMIT
    ? text
    : `${text.slice(0, PREVIEW_LIMIT)}\n… (${text.length - PREVIEW_LIMIT} more characters)`;
}
