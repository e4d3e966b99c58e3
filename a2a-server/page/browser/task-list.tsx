/** Lists the tasks of the signed-in principal; waiting tasks come first. */
import type { ListedTask } from '../../../shared/client/index.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';

interface TaskListProps {
  tasks: readonly ListedTask[];
  chosen: string | undefined;
  onChoose: (taskId: string) => void;
}

const WORDS: Readonly<Record<ListedTask['state'], string>> = {
  waiting: 'waits for you',
  working: 'working',
  completed: 'completed',
  canceled: 'canceled',
  failed: 'failed',
};

const waits = ({ state }: ListedTask): number => (state === 'waiting' ? 0 : 1);

export function TaskList({ tasks, chosen, onChoose }: TaskListProps) {
  if (tasks.length === 0) return <p class="quiet">There are no tasks yet.</p>;
  return (
    <nav aria-label="Tasks">
      <ul class="tasks">
        {tasks
          .toSorted((a, b) => waits(a) - waits(b))
          .map(({ taskId, title, state, updatedAt }) => (
            <li key={taskId}>
              <button aria-current={taskId === chosen} onClick={() => onChoose(taskId)}>
                <div class="title">{title === '' ? taskId : visibleLine(title)}</div>
                <small>
                  <span class={`state-${state}`}>{WORDS[state]}</span>{' '}
                  <span class="quiet">{updatedAt === null ? '' : new Date(updatedAt).toLocaleString()}</span>
                </small>
              </button>
            </li>
          ))}
      </ul>
    </nav>
  );
}
