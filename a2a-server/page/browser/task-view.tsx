/** Shows one task and its live updates. */
import { useEffect, useState } from 'preact/hooks';
import { hasEnded } from '../../../shared/client/index.ts';
import type { A2aClient, Decision, Execution, TaskReport } from '../../../shared/client/index.ts';
import { visibleLine, visibleText } from '../../../shared/text/visible-text.ts';
import type { OpenedAction } from './address.ts';
import { ActionList } from './action-list.tsx';
import { withAcceptedDecision, updateShownActions } from './shown-actions.ts';
import type { ShownAction } from './shown-actions.ts';
import { STATE_WORDS } from './state-words.ts';
import { TaskFiles } from './task-files.tsx';

interface TaskViewProps {
  client: A2aClient;
  taskId: string;
  link: OpenedAction;
  /** The cost of the task as text; '' if unknown. */
  cost: string;
  /** Called when the task's state changes. */
  onChange: () => Promise<void>;
}

/** Maximum characters of live tool output on the page. */
const LIVE = 20_000;

export function TaskView({ client, taskId, link, cost, onChange }: TaskViewProps) {
  const [execution, setExecution] = useState<Execution>();
  const [report, setReport] = useState<TaskReport>();
  const [actions, setActions] = useState<readonly ShownAction[]>([]);
  const [live, setLive] = useState('');
  const [fileChanges, setFileChanges] = useState(0);
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
          // A result, or the start of a turn with a new message, may bring files.
          const finished = progress.type === 'activity' && progress.activity.type === 'tool.finished';
          if (progress.type === 'state' || finished) setFileChanges((before) => before + 1);
          setReport(attached.report);
          if (progress.type !== 'state') return;
          setActions((before) => updateShownActions(before, progress.report.pending));
          void onChange();
        },
      },
    );
    setExecution(attached);
    attached.result.then(setReport, (error: unknown) => {
      if (attached.report === undefined) fail(error);
    });
    return () => attached.detach();
  }, [client, taskId]);

  /**
   * Sends a command. @returns true if the server accepted it. Otherwise the page shows the error, and the action still
   * waits.
   */
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
  const decide = async (decision: Decision): Promise<boolean> => {
    const taken = await send((to) => to.decide(decision));
    if (taken) setActions((before) => withAcceptedDecision(before, decision.callId, decision.decision));
    return taken;
  };
  const abort = async (toolId: string): Promise<void> => {
    const { success, message } = await client.abortTool(toolId, 'aborted on the approval page');
    if (!success) setProblem(message);
  };

  if (report === undefined)
    return <p class={problem === undefined ? 'quiet' : 'problem'}>{problem ?? 'Loading …'}</p>;
  return (
    <article aria-label="Task">
      <div class="row">
        <strong class={`state-${report.state}`}>{STATE_WORDS[report.state]}</strong>
        {report.notDone !== '' && <span>{report.notDone}</span>}
        <span class="quiet">session {report.sessionId}</span>
        {!hasEnded(report) && (
          <button onClick={() => void send((to) => to.cancel('cancelled on the approval page'))}>
            Cancel the task
          </button>
        )}
      </div>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {cost !== '' && <p class="quiet">{cost}</p>}
      <ActionList taskId={taskId} link={link} actions={actions} onDecide={decide} />
      {report.question !== null && (
        <Reply question={report.question} onSay={(text) => send((to) => to.say(text))} />
      )}
      {report.tools.map(({ toolId, title }) => (
        <div class="row" key={toolId}>
          <span>{visibleLine(title)} …</span>
          <button onClick={() => void abort(toolId).catch(fail)}>Abort</button>
        </div>
      ))}
      <TaskFiles taskId={taskId} changes={fileChanges} />
      <div data-live>
        {live !== '' && report.tools.length > 0 && <pre aria-label="Live output">{visibleText(live)}</pre>}
        {report.message !== '' && <p class="message">{visibleText(report.message)}</p>}
        {report.output !== '' && <pre aria-label="The answer of the agent">{visibleText(report.output)}</pre>}
      </div>
    </article>
  );
}

interface ReplyProps {
  question: string;
  onSay: (text: string) => Promise<boolean>;
}

/** Shows a free-text question and its reply form. */
function Reply({ question, onSay }: ReplyProps) {
  const [text, setText] = useState('');
  const [sending, setSending] = useState(false);
  return (
    <section class="action">
      <h3>{question === '' ? 'The agent waits for your next message.' : question}</h3>
      <textarea
        aria-label="Your answer"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="row">
        <button
          class="main"
          disabled={sending || text.trim() === ''}
          onClick={() => {
            setSending(true);
            void onSay(text).finally(() => setSending(false));
          }}
        >
          Answer
        </button>
      </div>
    </section>
  );
}
