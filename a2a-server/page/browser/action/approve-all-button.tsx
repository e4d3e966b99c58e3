import { useRef } from 'preact/hooks';
import type { Decision } from '../../../../shared/client/index.ts';
import { approveAllReadinessOf } from './approve-all.ts';
import type { ShownAction } from './shown-actions.ts';
import { useKeptFocus } from '../use-kept-focus.ts';

interface ApproveAllButtonProps {
  actions: readonly ShownAction[];
  /** The `shown` codes of the actions that the person has read. */
  read: ReadonlySet<string>;
  /** True while the page sends a decision. A press must not send a second decision about the same action. */
  disabled: boolean;
  onDecide: (...decisions: readonly Decision[]) => Promise<boolean>;
}

/** Approves all waiting actions, after each of them has been on the screen. */
export function ApproveAllButton({ actions, read, disabled, onDecide }: ApproveAllButtonProps) {
  const sending = useRef(false);
  const box = useKeptFocus<HTMLDivElement>();
  const approval = approveAllReadinessOf(actions, read);
  if (approval.type === 'none') return null;
  const send = async (): Promise<void> => {
    if (approval.type !== 'ready' || sending.current) return;
    sending.current = true;
    await onDecide(...approval.decisions);
    sending.current = false;
  };
  const count = approval.type === 'ready' ? approval.decisions.length : approval.all;
  return (
    // Scrolling enables this button and moves nothing, so the click guard ignores this change (`data-live`).
    <div ref={box} tabIndex={-1} class="row" data-live>
      <button disabled={disabled || approval.type !== 'ready'} onClick={() => void send()}>
        Approve all {count} actions
      </button>
      {approval.type === 'unread' && (
        <span class="quiet">
          after you have read each of them ({approval.read} of {approval.all})
        </span>
      )}
    </div>
  );
}
