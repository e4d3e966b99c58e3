/** One task, as it stands and as it goes on. */
import { useEffect, useState } from 'preact/hooks';
import type { A2aClient, Decision, Execution, TaskReport } from '../../../shared/client/index.ts';
import { PendingActionView } from './pending-action.tsx';
import { Reply } from './reply.tsx';

interface TaskViewProps {
  client: A2aClient;
  taskId: string;
  /** The task has come to another state. */
  onChange: () => Promise<void>;
}

/** What running tools have put out, of which so many characters are shown. */
const LIVE = 20_000;

export function TaskView({ client, taskId, onChange }: TaskViewProps) {
  const [execution, setExecution] = useState<Execution>();
  const [report, setReport] = useState<TaskReport>();
  const [live, setLive] = useState('');
  const [problem, setProblem] = useState<string>();
  const fail = (error: unknown): void => setProblem(error instanceof Error ? error.message : String(error));

  useEffect(() => {
    const attached = client.attach(
      { taskId },
      {
        onProgress: (progress) => {
          if (progress.type === 'reconnecting') return setProblem(progress.error.message);
          setProblem(undefined);
          if (progress.type === 'activity' && progress.activity.type === 'tool.output') {
            const { text } = progress.activity;
            setLive((before) => (before + text).slice(-LIVE));
          }
          setReport(attached.report);
          if (progress.type === 'state') void onChange();
        },
      },
    );
    setExecution(attached);
    attached.result.then(setReport, (error: unknown) => {
      if (attached.report === undefined) fail(error);
    });
    return () => attached.detach();
  }, [client, taskId]);

  /** @returns whether it was taken; what was not is said, and still waits. */
  const send = async (act: (to: Execution) => Promise<void>): Promise<boolean> => {
    if (execution === undefined) return false;
    try {
      await act(execution);
      setProblem(undefined);
      return true;
    } catch (error) {
      fail(error);
      return false;
    }
  };
  const decide = (decision: Decision): Promise<boolean> => send((to) => to.decide(decision));
  const abort = async (toolId: string): Promise<void> => {
    const { success, message } = await client.abortTool(toolId, 'aborted on the approval page');
    if (!success) setProblem(message);
  };

  if (report === undefined)
    return <p class={problem === undefined ? 'quiet' : 'problem'}>{problem ?? 'One moment …'}</p>;
  const over = report.state !== 'working' && report.state !== 'waiting';
  return (
    <article aria-label="Task">
      <div class="row">
        <strong class={`state-${report.state}`}>{report.state}</strong>
        <span class="quiet">session {report.sessionId}</span>
        {!over && (
          <button onClick={() => void send((to) => to.cancel('canceled on the approval page'))}>
            Cancel the task
          </button>
        )}
      </div>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {report.pending.map((action) => (
        <PendingActionView key={`${action.callId} ${action.inputHash}`} action={action} onDecide={decide} />
      ))}
      {report.question !== null && (
        <Reply question={report.question} onSay={(text) => send((to) => to.say(text))} />
      )}
      {report.tools.map(({ toolId, title }) => (
        <div class="row" key={toolId}>
          <span>{title} …</span>
          <button onClick={() => void abort(toolId).catch(fail)}>Abort</button>
        </div>
      ))}
      {live !== '' && report.tools.length > 0 && <pre aria-label="Live output">{live}</pre>}
      {report.message !== '' && <p>{report.message}</p>}
      {report.output !== '' && <pre aria-label="What the agent said">{report.output}</pre>}
    </article>
  );
}
