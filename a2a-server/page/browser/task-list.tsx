/** Lists the tasks of the signed-in principal. */
import type { ListedTask } from '../../../shared/client/index.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { sessionPrice } from './cost-text.ts';
import { STATE_WORDS } from './state-words.ts';

interface TaskListProps {
  tasks: readonly ListedTask[];
  /** The number of all tasks. */
  total: number;
  chosen: string | undefined;
  onChoose: (taskId: string) => void;
  onMore: () => void;
}

export function TaskList({ tasks, total, chosen, onChoose, onMore }: TaskListProps) {
  if (tasks.length === 0) return <p class="quiet">There are no tasks yet.</p>;
  return (
    <nav aria-label="Tasks">
      <ul class="tasks">
        {tasks.map(({ taskId, title, state, notDone, updatedAt, cost }) => (
          <li key={taskId}>
            <button aria-current={taskId === chosen} onClick={() => onChoose(taskId)}>
              <div class="title">{title === '' ? taskId : visibleLine(title)}</div>
              <small>
                <span class={`state-${state}`}>
                  {STATE_WORDS[state]}
                  {notDone === '' ? '' : ', not done'}
                </span>{' '}
                <span class="quiet">{updatedAt === null ? '' : new Date(updatedAt).toLocaleString()}</span>{' '}
                <span class="quiet" title="The cost of the session">
                  {sessionPrice({ cost })}
                </span>
              </small>
            </button>
          </li>
        ))}
      </ul>
      {total > tasks.length && <button onClick={onMore}>Show more ({total - tasks.length})</button>}
    </nav>
  );
}
