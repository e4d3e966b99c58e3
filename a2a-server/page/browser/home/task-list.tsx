/** Shows the task list in three parts: waiting tasks, running tasks, and ended tasks. */
import { useRef } from 'preact/hooks';
import {
  TASK_GROUPS,
  type TaskGroupName,
  type TaskGroupPage,
  type TaskGroups,
} from '../../../../shared/protocol/task-groups.ts';
import { countWithNoun } from '../../../../shared/text/one-line.ts';
import { rowCostText } from '../cost-text.ts';
import { useNow } from '../relative-time.tsx';
import { useKeptFocus } from '../use-kept-focus.ts';
import { groupBySession, type SessionTasks, waitingGroupTitle } from './task-pages.ts';
import { TaskListRow } from './task-row.tsx';
import { useFocusOnFurtherTasks } from './use-focus-on-further-tasks.ts';

interface TaskListProps {
  groups: TaskGroups | undefined;
  filtered: boolean;
  chosen: string | undefined;
  onMore: (group: TaskGroupName) => void;
}

const WORDS: Readonly<Record<TaskGroupName, { title: (group: TaskGroupPage) => string; empty: string }>> = {
  waiting: { title: waitingGroupTitle, empty: 'Nothing waits for you.' },
  working: { title: () => 'Runs', empty: 'No task runs.' },
  ended: { title: () => 'Ended', empty: 'No task has ended yet.' },
};

/** The interval between two updates of the ages in the list, in milliseconds. The ages are shown in minutes. */
const TICK_MS = 15_000;

export function TaskListView({ groups, filtered, chosen, onMore }: TaskListProps) {
  const now = useNow(TICK_MS);
  const box = useKeptFocus<HTMLDivElement>(rowOfSameTask);
  if (groups === undefined) return <Skeleton />;
  return (
    <div ref={box} tabIndex={-1}>
      {TASK_GROUPS.map((name) => (
        <Group
          key={name}
          {...{ name, filtered, chosen, now }}
          group={groups[name]}
          onMore={() => onMore(name)}
        />
      ))}
    </div>
  );
}

/** Returns the new row of a task that has moved to another group or session. */
function rowOfSameTask({ dataset: { task } }: HTMLElement, list: HTMLElement): HTMLElement | undefined {
  const rows = [...list.querySelectorAll<HTMLElement>('[data-task]')];
  return rows.find((row) => row.dataset['task'] === task);
}

interface GroupProps {
  name: TaskGroupName;
  group: TaskGroupPage;
  filtered: boolean;
  chosen: string | undefined;
  now: number;
  onMore: () => void;
}

function Group({ name, group, filtered, chosen, now, onMore }: GroupProps) {
  const { tasks, total, next } = group;
  const { empty } = WORDS[name];
  const title = WORDS[name].title(group);
  const section = useRef<HTMLElement>(null);
  const focusFurtherTasks = useFocusOnFurtherTasks(section);
  const showMore = (): void => {
    focusFurtherTasks();
    onMore();
  };
  return (
    <section ref={section} class={`group ${name}`} aria-label={title}>
      <h2>
        {title} {total > 0 && <span class="count">{total}</span>}
      </h2>
      {tasks.length === 0 ? (
        <p class="quiet">{filtered ? 'No task matches the filters.' : empty}</p>
      ) : (
        <ul class="tasks">
          {groupBySession(tasks).map((session) => (
            <li key={session.sessionId}>
              <Session session={session} chosen={chosen} now={now} />
            </li>
          ))}
        </ul>
      )}
      {next !== null && (
        <button class="more" onClick={showMore}>
          Show more ({Math.max(0, total - tasks.length)})
        </button>
      )}
    </section>
  );
}

interface SessionProps {
  session: SessionTasks;
  chosen: string | undefined;
  now: number;
}

function Session({ session: { tasks }, chosen, now }: SessionProps) {
  const [first] = tasks;
  const rows = tasks.map((task) => (
    <TaskListRow key={task.taskId} task={task} chosen={task.taskId === chosen} now={now} />
  ));
  if (first === undefined || tasks.length === 1) return <>{rows}</>;
  const price = rowCostText(first.cost.session);
  return (
    <div class="session-tasks" role="group" aria-label="One session">
      <span class="quiet">
        One session, {countWithNoun(tasks.length, 'task')}
        {price === '' ? '' : `, ${price}`}
      </span>
      {rows}
    </div>
  );
}

function Skeleton() {
  return (
    <div class="skeleton" role="progressbar" aria-label="The tasks are loading">
      {[1, 2, 3, 4].map((row) => (
        <span key={row} />
      ))}
    </div>
  );
}
