import { useRef, useState } from 'preact/hooks';
import type { Decision } from '../../../../shared/client/index.ts';
import { decideApproveAll } from './approve-all.ts';
import type { ShownAction } from './shown-actions.ts';
import { useKeptFocus } from '../use-kept-focus.ts';

interface ApproveAllButtonProps {
  actions: readonly ShownAction[];
  /** The `shown` codes of the actions that the person has read. */
  read: ReadonlySet<string>;
  onDecide: (...decisions: readonly Decision[]) => Promise<boolean>;
}

/** Approves all waiting actions, after each of them has been on the screen. */
export function ApproveAllButton({ actions, read, onDecide }: ApproveAllButtonProps) {
  const [sent, setSent] = useState(false);
  const sending = useRef(false);
  const box = useRef<HTMLDivElement>(null);
  useKeptFocus(box);
  const approval = decideApproveAll(actions, read);
  if (approval.type === 'none') return null;
  const send = async (): Promise<void> => {
    if (approval.type !== 'ready' || sending.current) return;
    sending.current = true;
    setSent(true);
    await onDecide(...approval.decisions);
    sending.current = false;
    setSent(false);
  };
  const count = approval.type === 'ready' ? approval.decisions.length : approval.all;
  return (
    // Scrolling enables this button and moves nothing, so the click guard ignores this change (`data-live`).
    <div ref={box} tabIndex={-1} class="row" data-live>
      <button disabled={sent || approval.type !== 'ready'} onClick={() => void send()}>
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
