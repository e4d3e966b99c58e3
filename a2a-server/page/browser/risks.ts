/** Names what is risky about an action, so that a person sees it before the details. Pure. */
import type { PendingAction } from '../../../shared/client/index.ts';

export interface Risk {
  text: string;
  /** True if a mistake is hard to undo, or has an effect outside of this machine. */
  high: boolean;
}

const EFFECTS: Readonly<Record<PendingAction['sideEffect'], Risk | null>> = {
  none: null,
  files: { text: 'changes files', high: false },
  command: { text: 'runs a command', high: true },
  network: { text: 'uses the network', high: true },
  other: { text: 'may do anything', high: true },
};

type JudgedAction = Pick<PendingAction, 'sideEffect' | 'tool' | 'reason' | 'preview' | 'presence'>;

export function risksOf({ sideEffect, tool, reason, preview, presence }: JudgedAction): Risk[] {
  if (preview.type === 'question') return [];
  const effect = EFFECTS[sideEffect];
  return [
    ...(presence === true ? [{ text: 'needs your passkey', high: true }] : []),
    ...(reason === 'outcome-unknown' ? [{ text: 'may have run already', high: true }] : []),
    ...(tool === 'delete-file' ? [{ text: 'deletes', high: true }] : []),
    ...(effect === null ? [] : [effect]),
  ];
}
