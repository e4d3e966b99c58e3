/** Shows the actions of one task. If a link names one action, shows only that action. */
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Decision } from '../../../../shared/client/index.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { openTask } from '../address.ts';
import type { LinkedAction } from '../address.ts';
import { SettledActionOutcome } from './settled-action-outcome.tsx';
import { PendingActionView } from './pending-action.tsx';
import { ActionView } from './action-view.tsx';
import { PasskeySetupNotice } from '../passkeys/passkey-setup-notice.tsx';
import { ApproveAllButton } from './approve-all-button.tsx';
import type { ShownAction } from './shown-actions.ts';
import { useKeptFocus } from '../use-kept-focus.ts';

interface ActionListProps {
  taskId: string;
  link: LinkedAction;
  actions: readonly ShownAction[];
  /** Returns why the server refused the last decision on this call. */
  problemOf: (callId: string) => string | undefined;
  /** Sends all decisions in one message. Resolves to true if the server accepted them. */
  onDecide: (...decisions: readonly Decision[]) => Promise<boolean>;
}

const DONE: Readonly<Record<Decision['decision'], string>> = {
  approve: 'You approved this.',
  deny: 'You denied this.',
  edit: 'You edited and approved this.',
  answer: 'You answered this.',
};

export function ActionList(props: ActionListProps) {
  const {
    taskId,
    link: { callId, shown },
    actions,
    problemOf,
    onDecide,
  } = props;
  const listed = actions.filter(({ action }) => callId === undefined || action.callId === callId);
  // The `shown` codes of the actions that the person has read.
  const [read, setRead] = useState<ReadonlySet<string>>(new Set());
  const [sending, setSending] = useState(0);
  const decide = async (...decisions: readonly Decision[]): Promise<boolean> => {
    setSending((before) => before + 1);
    try {
      return await onDecide(...decisions);
    } finally {
      setSending((before) => before - 1);
    }
  };
  const others = actions.filter((each) => each.type === 'waits' && !listed.includes(each)).length;
  return (
    <>
      {shown !== undefined && listed.some((each) => hasChangedSinceLink(each, shown)) && (
        <p class="warning">This action has changed since the link was made. Read it again.</p>
      )}
      {callId !== undefined && listed.length === 0 && (
        <SettledActionOutcome key={callId} taskId={taskId} callId={callId} />
      )}
      {listed.map((each) => (
        <OneAction
          key={each.action.callId}
          taskId={taskId}
          shown={each}
          problem={problemOf(each.action.callId)}
          onDecide={decide}
          onRead={(isRead) => setRead((before) => withCode(before, each.action.shown, isRead))}
        />
      ))}
      {others === 0 && (
        <ApproveAllButton actions={listed} read={read} disabled={sending > 0} onDecide={decide} />
      )}
      {others > 0 && (
        <p>
          {others === 1 ? 'One more action' : `${others} more actions`} of this task{' '}
          {others === 1 ? 'waits' : 'wait'}. <button onClick={() => openTask(taskId)}>Show all</button>
        </p>
      )}
    </>
  );
}

/** Returns true if the action's question has changed since the sender of the link saw it. */
function hasChangedSinceLink({ type, action }: ShownAction, shown: string): boolean {
  return type === 'waits' && action.shown !== shown;
}

interface OneActionProps extends Pick<ActionListProps, 'taskId' | 'onDecide'> {
  shown: ShownAction;
  problem: string | undefined;
  onRead: (read: boolean) => void;
}

function withCode(codes: ReadonlySet<string>, code: string, isIn: boolean): ReadonlySet<string> {
  return isIn ? new Set([...codes, code]) : new Set([...codes].filter((each) => each !== code));
}

/** Shows one action. A decided action keeps its height, so that the buttons of the next action do not move. */
function OneAction(props: OneActionProps) {
  const { type } = props.shown;
  const [height, setHeight] = useState(0);
  const box = useKeptFocus<HTMLDivElement>();
  useLayoutEffect(() => {
    if (type === 'waits') setHeight(box.current?.getBoundingClientRect().height ?? 0);
  });
  const keepsHeight = type === 'gone' || (type === 'decided-here' && !props.shown.newerCame);
  return (
    <div ref={box} style={{ minHeight: keepsHeight ? `${height}px` : undefined }}>
      <Action {...props} />
    </div>
  );
}

function Action({ taskId, shown, problem, onDecide, onRead }: OneActionProps) {
  const { action } = shown;
  switch (shown.type) {
    case 'waits':
      return (
        <>
          {action.presence === true && action.decisions.includes('approve') && (
            <PasskeySetupNotice target={{ taskId, callId: action.callId }} />
          )}
          <PendingActionView action={action} problem={problem} onDecide={onDecide} onRead={onRead} />
        </>
      );
    case 'gone':
      return (
        <ActionView action={action} waits={false}>
          <SettledActionOutcome taskId={taskId} callId={action.callId} />
        </ActionView>
      );
    case 'decided-here':
      if (shown.newerCame)
        return (
          <p class="quiet" tabIndex={-1}>
            {visibleLine(action.title)}: {DONE[shown.decision]}
          </p>
        );
      return (
        <ActionView action={action} waits={false}>
          <p class="outcome">{DONE[shown.decision]}</p>
        </ActionView>
      );
  }
}
