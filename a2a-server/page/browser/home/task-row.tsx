/** Shows one task in the list. */
import { approvalNeededText } from '../../../../shared/protocol/demanded-approver.ts';
import type { GroupedTask } from '../../../../shared/protocol/task-groups.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { taskFragment } from '../address.ts';
import { rowCostText } from '../cost-text.ts';
import { isolateRightToLeft } from '../isolate-right-to-left.tsx';
import { RelativeTime } from '../relative-time.tsx';
import { STATE_TEXTS } from '../state-text.ts';
import { waitingLine, waitingRisks } from './task-risks.ts';

interface TaskRowProps {
  task: GroupedTask;
  chosen: boolean;
  now: number;
}

export function TaskListRow({ task, chosen, now }: TaskRowProps) {
  const { taskId, title, state, waitingFor, activity, cost } = task;
  const name = title === '' ? 'Task without a title' : visibleLine(title);
  const ended = state !== 'waiting' && state !== 'working';
  const price = rowCostText(cost.task);
  return (
    <a
      class={`task ${state}`}
      data-task={taskId}
      href={taskFragment(taskId)}
      aria-current={chosen ? 'true' : undefined}
    >
      {waitingFor !== null && (
        <span class="asks">{isolateRightToLeft(visibleLine(waitingLine(waitingFor)))}</span>
      )}
      {waitingFor?.type === 'actions' && waitingFor.approver !== undefined && (
        <span class="needs">{approvalNeededText(waitingFor.approver)}.</span>
      )}
      <span class="title">{name}</span>
      {state === 'working' && activity !== '' && <span class="activity">{visibleLine(activity)}</span>}
      <span class="facts">
        {waitingFor !== null &&
          waitingRisks(waitingFor).map(({ text, high }) => (
            <span key={text} class={high ? 'risk high' : 'risk'}>
              {text}
            </span>
          ))}
        <StateAndTime task={task} now={now} />
        {price !== '' && <span title={`Session: ${rowCostText(cost.session)}`}>{price}</span>}
        {ended && state !== 'completed' && activity !== '' && (
          <span class="activity">{visibleLine(activity)}</span>
        )}
      </span>
    </a>
  );
}

/**
 * Shows the state of a task. For a waiting or running task, also shows for how long. For an ended task, also shows when
 * it ended.
 */
function StateAndTime({ task, now }: Pick<TaskRowProps, 'task' | 'now'>) {
  const { state, notDone, createdAt, updatedAt, waitingSince } = task;
  switch (state) {
    case 'waiting':
    case 'working':
      return (
        <span class={`state-${state}`}>
          {state === 'waiting' ? (
            <RelativeTime verb="waits" at={waitingSince ?? updatedAt} now={now} />
          ) : (
            <RelativeTime verb="runs" at={createdAt} now={now} />
          )}
        </span>
      );
    case 'completed':
    case 'canceled':
    case 'failed':
    case 'rejected':
      return (
        <>
          <span class={`state-${notDone === '' ? state : 'incomplete'}`}>
            {STATE_TEXTS[state]}
            {notDone === '' ? '' : ', not all done'}
          </span>
          <RelativeTime at={updatedAt} now={now} />
        </>
      );
  }
}
