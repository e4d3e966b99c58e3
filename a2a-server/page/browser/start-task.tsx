/** Shows the form for a new task: the text for the agent, and the working directory. */
import { useRef, useState } from 'preact/hooks';
import { type A2aClient, ClientError } from '../../../shared/client/index.ts';
import { allowedWorkspaces } from './sign-in.ts';
import type { AllowedWorkspaces } from './sign-in.ts';

interface StartTaskProps {
  client: A2aClient;
  onStarted: (taskId: string) => void;
  onSignedOut: () => void;
}

export function StartTask({ client, onStarted, onSignedOut }: StartTaskProps) {
  const details = useRef<HTMLDetailsElement>(null);
  const [text, setText] = useState('');
  const [workspace, setWorkspace] = useState('');
  const [known, setKnown] = useState<AllowedWorkspaces>({ fallback: '', allowed: [] });
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<string>();

  const send = async (): Promise<void> => {
    setSending(true);
    setProblem(undefined);
    try {
      const directory = workspace.trim();
      const taskId = await start(client, { text, ...(directory !== '' && { workspace: directory }) });
      setText('');
      if (details.current !== null) details.current.open = false;
      onStarted(taskId);
    } catch (error) {
      if (error instanceof ClientError && error.status === 401) onSignedOut();
      else setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setSending(false);
    }
  };
  const opened = async (): Promise<void> => setKnown(await allowedWorkspaces());

  return (
    <details
      class="start"
      ref={details}
      onToggle={({ currentTarget }) => void (currentTarget.open && opened())}
    >
      <summary>Start a task</summary>
      <label>
        The task for the agent
        <textarea value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      </label>
      <label>
        Workspace
        <input
          list="workspaces"
          placeholder={known.fallback}
          value={workspace}
          onInput={({ currentTarget }) => setWorkspace(currentTarget.value)}
        />
      </label>
      <datalist id="workspaces">
        {known.allowed.map((directory) => (
          <option key={directory} value={directory} />
        ))}
      </datalist>
      <div class="row">
        <button class="main" disabled={sending || text.trim() === ''} onClick={() => void send()}>
          Send
        </button>
      </div>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </details>
  );
}

/** Resolves when the server has the task. After that, the view of the task shows its progress. @throws ClientError */
function start(client: A2aClient, request: { text: string; workspace?: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const execution = client.start(request, {
      onProgress: () => {
        const { taskId = null } = execution.report ?? {};
        if (taskId === null) return;
        resolve(taskId);
        execution.detach();
      },
    });
    execution.result.catch(reject);
  });
}
