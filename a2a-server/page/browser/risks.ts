/** Names what is risky about an action, so that a person sees it before the details. Pure. */
import type { PendingAction } from '../../../shared/client/index.ts';
import { SIDE_EFFECT_TEXTS } from '../../../shared/protocol/side-effect-text.ts';

export interface Risk {
  text: string;
  /** True if a mistake is hard to undo, or has an effect outside of this machine. */
  high: boolean;
}

/** The side effects that are hard to undo, or reach outside of this machine. */
const HIGH: ReadonlySet<PendingAction['sideEffect']> = new Set(['command', 'network', 'other']);

type JudgedAction = Pick<PendingAction, 'sideEffect' | 'tool' | 'reason' | 'preview' | 'presence'>;

export function risksOf({ sideEffect, tool, reason, preview, presence }: JudgedAction): Risk[] {
  if (preview.type === 'question') return [];
  const effect = SIDE_EFFECT_TEXTS[sideEffect];
  return [
    ...(presence === true ? [{ text: 'needs your passkey', high: true }] : []),
    ...(reason === 'outcome-unknown' ? [{ text: 'may have run already', high: true }] : []),
    ...(tool === 'delete-file' ? [{ text: 'deletes', high: true }] : []),
    ...(effect === '' ? [] : [{ text: effect, high: HIGH.has(sideEffect) }]),
  ];
}
