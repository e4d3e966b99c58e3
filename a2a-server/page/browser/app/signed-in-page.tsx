/** Shows the task list, the selected task and the form for a new task. Only the address selects the task. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { A2aClient } from '../../../../shared/client/index.ts';
import { TASK_GROUPS } from '../../../../shared/protocol/task-groups.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import {
  readAddressFilters,
  readAddressTarget,
  onAddressChange,
  replaceFragment,
  setAddressFilters,
  openCreatedTask,
  taskFragment,
} from '../address.ts';
import { draftsOfTask, type TaskDrafts } from '../action/drafts.ts';
import { TaskDraftsContext } from '../action/drafts-context.ts';
import { taskCostText, todayCostText } from '../cost-text.ts';
import { NotificationButton } from '../home/notification-button.tsx';
import { showWaitingCount } from '../home/show-waiting-count.ts';
import { isSignedOut } from '../page-api.ts';
import { PasskeyButton } from '../passkeys/passkey-button.tsx';
import { ProblemLine } from '../problem-line.tsx';
import { PageKeyboard } from './page-keyboard.tsx';
import { useNow } from '../relative-time.tsx';
import { signOut } from '../sign-in/sign-in.ts';
import { NewTaskForm } from '../home/new-task-form.tsx';
import { TaskFilterFields } from '../home/task-filter-fields.tsx';
import { areFiltersOn } from '../task-filters.ts';
import { TaskListView } from '../home/task-list.tsx';
import { TaskDetails } from '../task/task-details.tsx';
import { useNotifications } from '../home/use-notifications.ts';
import { useKeptFocus } from '../use-kept-focus.ts';
import { useLoaded } from '../use-loaded.ts';
import { useTaskGroups } from '../home/use-task-groups.ts';

/** The interval between two checks whether a new UTC day has begun, in milliseconds. */
const DAY_CHECK_MS = 60_000;

interface SignedInPageProps {
  client: A2aClient;
  /** The code of a sign-in link. The page needs this code if the current sign-in has ended. */
  signInCode: string | undefined;
  /** The code of a link that registers a passkey. */
  registrationCode: string | undefined;
  onCodeUsed: () => void;
  onSignedOut: () => void;
}

export function SignedInPage(props: SignedInPageProps) {
  const { client, signInCode, registrationCode, onCodeUsed, onSignedOut } = props;
  const [problem, setProblem] = useState<string>();
  const [{ taskId, callId, shown }, setTarget] = useState(readAddressTarget());
  const [filters, setFilters] = useState(readAddressFilters());
  const list = useTaskGroups(filters, onSignedOut);
  const { groups, since } = list;
  const notifications = useNotifications(groups?.attention.tasks);
  const filtered = areFiltersOn(filters);
  // The person has opened a sign-in link in this page. This request checks whether the sign-in still works. If it does
  // not, e.g. because the browser has lost the cookie, the page shows the sign-in with the code of the link.
  useEffect(() => {
    if (signInCode !== undefined) void list.refresh();
  }, [signInCode]);
  const drafts = useRef(new Map<string, TaskDrafts>());

  useEffect(
    () =>
      onAddressChange(() => {
        setTarget(readAddressTarget());
        setFilters(readAddressFilters());
      }),
    [],
  );
  // The page scrolls to its top when it shows another task, because the head of the task is there. The person may
  // have chosen the task far down in the list.
  const shownTask = useRef(taskId);
  useLayoutEffect(() => {
    if (shownTask.current !== taskId) window.scrollTo(0, 0);
    shownTask.current = taskId;
  }, [taskId]);
  const chosenTask = useKeptFocus<HTMLDivElement>();
  const loaded = groups !== undefined;
  const tasks = TASK_GROUPS.flatMap((name) => groups?.[name].tasks ?? []);
  useEffect(() => {
    // If the address names no task, the page opens the first task once. This adds no entry to the history, so Back
    // leaves the page.
    const [first] = tasks;
    if (first !== undefined && location.hash === '') replaceFragment(taskFragment(first.taskId));
  }, [loaded]);

  const waiting = groups?.attention.count;
  useEffect(() => {
    if (waiting !== undefined) showWaitingCount(waiting);
  }, [waiting]);

  const ended = groups?.ended.total;
  // The costs are those of the current UTC day, and the page may stay open for days.
  const day = Math.floor(useNow(DAY_CHECK_MS) / 86_400_000);
  const costs = useLoaded(() => client.costs(1), [client, waiting, ended, day]);
  const today = costs.value === undefined ? '' : todayCostText(costs.value);
  useEffect(() => {
    if (isSignedOut(costs.error)) onSignedOut();
  }, [costs.error]);

  const leave = async (everywhere: boolean): Promise<void> => {
    const failed = await signOut(everywhere);
    if (failed === undefined) onSignedOut();
    else setProblem(failed);
  };
  const chosen = tasks.find((task) => task.taskId === taskId);
  const signedInAs = signedInText(groups?.principal);
  const shownProblem = problem ?? list.problem;
  return (
    <>
      <header>
        {taskId !== undefined && (
          <button class="skip" onClick={() => focusTask(chosenTask.current)}>
            Skip to the task
          </button>
        )}
        <h1>
          <a href={taskFragment()}>Approvals</a>
        </h1>
        {today !== '' && <span class="quiet">{today}</span>}
        {signedInAs !== '' && <span class="quiet">{signedInAs}</span>}
        <div class="commands">
          <PageKeyboard />
          <NotificationButton {...notifications} />
          <PasskeyButton registrationCode={registrationCode} onCodeUsed={onCodeUsed} />
          <button onClick={() => void leave(false)}>Sign out</button>
          <button onClick={() => void leave(true)}>Sign out everywhere</button>
        </div>
      </header>
      <ProblemLine text={shownProblem} />
      <section aria-label="New task">
        <NewTaskForm
          client={client}
          onStarted={(started, before) => {
            openCreatedTask(started, before);
            void list.refresh();
          }}
          onSignedOut={onSignedOut}
        />
      </section>
      <main>
        {/* A change of the list moves no button of an action, so it does not start the click guard. */}
        <nav aria-label="Tasks" data-live>
          <TaskFilterFields filters={filters} offered={groups} onChange={setAddressFilters} />
          {since !== undefined && (
            <p class="warning">
              No connection. This list is from {new Date(since).toLocaleTimeString()}. The page tries again by
              itself.
            </p>
          )}
          <TaskListView
            groups={groups}
            filtered={filtered}
            chosen={taskId}
            onMore={(group) => void list.showMore(group)}
          />
        </nav>
        {taskId === undefined ? (
          <p class="quiet no-task">Choose a task from the list, or start one.</p>
        ) : (
          <div ref={chosenTask} tabIndex={-1} class="chosen-task">
            <a class="to-list" href={taskFragment()}>
              All tasks
            </a>
            <TaskDraftsContext.Provider value={draftsOfTask(drafts.current, taskId)}>
              <TaskDetails
                key={taskId}
                client={client}
                taskId={taskId}
                link={{ callId, shown }}
                title={chosen?.title ?? ''}
                cost={chosen === undefined ? '' : taskCostText(chosen)}
                onChange={list.refresh}
              />
            </TaskDraftsContext.Provider>
          </div>
        )}
      </main>
    </>
  );
}

/** Moves the focus to the first action of a task. The list before it may have many links. */
function focusTask(task: HTMLElement | null): void {
  const target = task?.querySelector<HTMLElement>('section.action') ?? task;
  target?.focus();
  target?.scrollIntoView({ block: 'nearest' });
}

/** Returns '' for the user `local`, because most servers have no other user. */
function signedInText(principal = ''): string {
  return principal === '' || principal === 'local' ? '' : `Signed in as ${visibleLine(principal)}`;
}
