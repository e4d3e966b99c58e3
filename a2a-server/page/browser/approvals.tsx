/** Shows the task list, the selected task and the form for a new one. Only the address selects the task. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { type A2aClient, ClientError, type TaskList as ListedTasks } from '../../../shared/client/index.ts';
import { onAddressTarget, showTask, addressTarget } from './address.ts';
import { taskCostText, todayText } from './cost-text.ts';
import { signOut } from './sign-in.ts';
import { StartTask } from './start-task.tsx';
import { TaskList } from './task-list.tsx';
import { TaskView } from './task-view.tsx';

/** The number of tasks that one click adds to the list. */
const PAGE = 50;

interface ApprovalsProps {
  client: A2aClient;
  onSignedOut: () => void;
}

export function Approvals({ client, onSignedOut }: ApprovalsProps) {
  const [list, setList] = useState<ListedTasks>({ tasks: [], total: 0 });
  const [today, setToday] = useState('');
  const [count, setCount] = useState(PAGE);
  const [problem, setProblem] = useState<string>();
  const [{ taskId, callId, shown }, setTarget] = useState(addressTarget());

  const refresh = useCallback(async (): Promise<void> => {
    try {
      const found = await client.tasks(count);
      setList(found);
      setToday(todayText(await client.costs(1)));
      setProblem(undefined);
      // If the address names no task, open the first waiting task once.
      const [first] = found.tasks;
      if (addressTarget().taskId === undefined && first !== undefined) showTask(first.taskId);
    } catch (error) {
      if (error instanceof ClientError && error.status === 401) onSignedOut();
      else setProblem(error instanceof Error ? error.message : String(error));
    }
  }, [client, count]);

  useEffect(() => onAddressTarget(() => setTarget(addressTarget())), []);
  useEffect(() => {
    void refresh();
    const seen = (): void => void (document.visibilityState === 'visible' && refresh());
    document.addEventListener('visibilitychange', seen);
    window.addEventListener('focus', seen);
    return () => {
      document.removeEventListener('visibilitychange', seen);
      window.removeEventListener('focus', seen);
    };
  }, [refresh]);

  const chosen = list.tasks.find((task) => task.taskId === taskId);
  const waiting = list.tasks.filter(({ state }) => state === 'waiting').length;
  useEffect(() => {
    document.title = waiting === 0 ? 'Approvals' : `(${waiting}) Approvals`;
  }, [waiting]);

  const leave = async (everywhere: boolean): Promise<void> => {
    const failed = await signOut(everywhere);
    if (failed === undefined) onSignedOut();
    else setProblem(failed);
  };
  return (
    <>
      <header>
        <h1>Approvals</h1>
        {today !== '' && <span class="quiet">{today}</span>}
        <button onClick={() => void refresh()}>Refresh</button>
        <button onClick={() => void leave(false)}>Sign out</button>
        <button onClick={() => void leave(true)}>Sign out everywhere</button>
      </header>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <StartTask
        client={client}
        onStarted={(started) => {
          showTask(started);
          void refresh();
        }}
        onSignedOut={onSignedOut}
      />
      <main>
        <TaskList {...list} chosen={taskId} onChoose={showTask} onMore={() => setCount(count + PAGE)} />
        {taskId !== undefined && (
          <TaskView
            key={taskId}
            client={client}
            taskId={taskId}
            link={{ callId, shown }}
            cost={chosen === undefined ? '' : taskCostText(chosen)}
            onChange={refresh}
          />
        )}
      </main>
    </>
  );
}
