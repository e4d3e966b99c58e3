/** The tasks on the left, the chosen one on the right. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { type A2aClient, ClientError, type ListedTask } from '../../../shared/client/index.ts';
import { TaskList } from './task-list.tsx';
import { TaskView } from './task-view.tsx';

interface DeskProps {
  client: A2aClient;
  onRefused: () => void;
}

export function Desk({ client: given, onRefused }: DeskProps) {
  const [client] = useState(given);
  const [tasks, setTasks] = useState<readonly ListedTask[]>([]);
  const [problem, setProblem] = useState<string>();
  const [chosen, setChosen] = useState<string>();

  const refresh = useCallback(async (): Promise<void> => {
    try {
      setTasks(await client.tasks());
      setProblem(undefined);
    } catch (error) {
      if (error instanceof ClientError && error.status === 401) onRefused();
      else setProblem(error instanceof Error ? error.message : String(error));
    }
  }, [client]);

  useEffect(() => {
    void refresh();
    // Whoever comes back sees what is there now.
    const seen = (): void => void (document.visibilityState === 'visible' && refresh());
    document.addEventListener('visibilitychange', seen);
    window.addEventListener('focus', seen);
    return () => {
      document.removeEventListener('visibilitychange', seen);
      window.removeEventListener('focus', seen);
    };
  }, [refresh]);

  const waiting = tasks.filter(({ state }) => state === 'waiting');
  const shown = chosen ?? (waiting[0] ?? tasks[0])?.taskId;
  useEffect(() => {
    document.title = waiting.length === 0 ? 'Approvals' : `(${waiting.length}) Approvals`;
  }, [waiting.length]);

  return (
    <>
      <header>
        <h1>Approvals</h1>
        <button onClick={() => void refresh()}>Look again</button>
      </header>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <main>
        <TaskList tasks={tasks} chosen={shown} onChoose={setChosen} />
        {shown !== undefined && <TaskView key={shown} client={client} taskId={shown} onChange={refresh} />}
      </main>
    </>
  );
}
