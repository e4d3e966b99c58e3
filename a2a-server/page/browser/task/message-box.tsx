/** Sends a text to the agent: an answer, a message for the next turn, or the next task of the session. */
import { useContext, useEffect, useState } from 'preact/hooks';
import { type A2aClient, hasEnded, type TaskReport } from '../../../../shared/client/index.ts';
import { visibleText } from '../../../../shared/text/visible-text.ts';
import { openCreatedTask } from '../address.ts';
import { createTask } from '../create-task.ts';
import { TaskDraftsContext } from '../action/drafts-context.ts';
import { useKeptFocus } from '../use-kept-focus.ts';

interface MessageBoxProps {
  client: A2aClient;
  report: TaskReport;
  /** Resolves to true if the server accepted the text. */
  onSay: (text: string) => Promise<boolean>;
  onProblem: (error: unknown) => void;
}

export function MessageBox({ client, report, onSay, onProblem }: MessageBoxProps) {
  const drafts = useContext(TaskDraftsContext);
  const [text, setText] = useState(drafts.message);
  const write = (next: string): void => {
    drafts.message = next;
    setText(next);
  };
  const [sending, setSending] = useState(drafts.sending !== undefined);
  // During the request, the person may look at another task and come back. Then this new view waits for the same
  // request.
  useEffect(() => {
    const followSending = async (): Promise<void> => {
      await drafts.sending;
      setText(drafts.message);
      setSending(false);
    };
    void followSending();
  }, [drafts]);
  const box = useKeptFocus<HTMLElement>();
  const { question, sessionId } = report;
  // The server accepts no message while an action waits for a decision. A text that the person has begun stays.
  const blocked = report.pending.length > 0;
  if (blocked && text === '') return null;
  const ended = hasEnded(report);
  const send = async (): Promise<void> => {
    const nextTask = ended ? await createTask(client, { sessionId, text }) : undefined;
    if (nextTask === undefined && !(await onSay(text))) return;
    // The person may have written more during the request. Then the text stays.
    if (drafts.message === text) write('');
    if (nextTask !== undefined) openCreatedTask(nextTask, report.taskId ?? undefined);
  };
  return (
    <section ref={box} tabIndex={-1} class={question === null ? 'say' : 'action'}>
      {question !== null && (
        <h3>{question === '' ? 'The agent waits for your next message.' : visibleText(question)}</h3>
      )}
      <textarea
        aria-label={question === null ? 'Message to the agent' : 'Your answer'}
        placeholder={placeholderOf(question, ended)}
        value={text}
        onInput={(event) => write(event.currentTarget.value)}
      />
      <div class="row">
        <button
          class={question === null ? '' : 'main'}
          disabled={sending || blocked || text.trim() === ''}
          onClick={() => {
            setSending(true);
            drafts.sending = send()
              .catch(onProblem)
              .finally(() => {
                drafts.sending = undefined;
                setSending(false);
              });
          }}
        >
          {question === null ? 'Send the message' : 'Answer'}
        </button>
        {blocked && <span class="quiet">after you have decided the actions above</span>}
      </div>
    </section>
  );
}

function placeholderOf(question: string | null, ended: boolean): string {
  if (question !== null) return '';
  return ended
    ? 'A message starts the next task of this session.'
    : 'The agent reads a message before its next turn.';
}
