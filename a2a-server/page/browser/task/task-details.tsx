import { useCallback, useContext, useState } from 'preact/hooks';
import * as z from 'zod/mini';
import { hasEnded } from '../../../../shared/client/index.ts';
import type { A2aClient, Decision, Execution } from '../../../../shared/client/index.ts';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { readableTaskTitle } from '../../../../shared/text/title-of-json-plan.ts';
import { visibleText } from '../../../../shared/text/visible-text.ts';
import type { LinkedAction } from '../address.ts';
import { ActionList } from '../action/action-list.tsx';
import { decideWithPasskey } from '../passkeys/decide-with-passkey.ts';
import { dropDraftsOfCall } from '../action/drafts.ts';
import { TaskDraftsContext } from '../action/drafts-context.ts';
import { ProblemLine } from '../problem-line.tsx';
import { Checkpoints } from './checkpoints.tsx';
import { InputSchemaContext } from '../action/input-schema.ts';
import { readJson, taskPath } from '../page-api.ts';
import { MessageBox } from './message-box.tsx';
import { callIdForRefusal, withAcceptedDecision, updateShownActions } from '../action/shown-actions.ts';
import type { DecisionRefusal, ShownAction } from '../action/shown-actions.ts';
import { firstMessageText } from './story.ts';
import { StoryView } from './story-view.tsx';
import { TaskFiles } from './task-files.tsx';
import { AboutTask, ConnectionOutageBanner, RunningTools, TaskHeader } from './task-head.tsx';
import { TodoList } from './todo-list.tsx';
import { TurnCosts } from './turn-costs.tsx';
import { useFollowedTask } from './use-followed-task.ts';
import { useStory } from './use-story.ts';
import { useTaskFacts } from './use-task-facts.ts';
import { useKeptFocus } from '../use-kept-focus.ts';

const inputSchemaAnswer = z.object({ schema: z.unknown() });

interface TaskViewProps {
  client: A2aClient;
  taskId: string;
  link: LinkedAction;
  /** The title of the task. '' if the task list does not contain the task. */
  title: string;
  /** The cost of the task as text. '' if unknown. */
  cost: string;
  onChange: () => Promise<void>;
}

export function TaskDetails({ client, taskId, link, title, cost, onChange }: TaskViewProps) {
  const article = useKeptFocus<HTMLElement>();
  const [actions, setActions] = useState<readonly ShownAction[]>([]);
  const drafts = useContext(TaskDraftsContext);
  const followed = useStory(taskId);
  const [changes, setChanges] = useState(0);
  const facts = useTaskFacts(taskId, changes);
  const [problem, setProblem] = useState<string>();
  const fail = (error: unknown): void => setProblem(errorMessageOf(error));
  const [refusal, setRefusal] = useState<DecisionRefusal>();

  const { execution, report, outage, failure } = useFollowedTask(client, taskId, (progress) => {
    followed.readOn();
    // The facts of the task are fetched again after these events. A tool result or a new message may contain files. A
    // decision may create a grant. During an outage, the last request for the facts may have failed.
    const { type } = progress.type === 'activity' ? progress.activity : progress;
    if (/^(state|reconnected|tool\.finished|tool\.decided)$/.test(type)) setChanges((before) => before + 1);
    if (progress.type !== 'state') return;
    setActions((before) => updateShownActions(before, progress.report.pending));
    void onChange();
  });

  const readSchema = useCallback(
    async (callId: string): Promise<unknown> => {
      const path = taskPath(taskId, `calls/${encodeURIComponent(callId)}/input-schema`);
      return (await readJson(path, inputSchemaAnswer)).schema;
    },
    [taskId],
  );

  /**
   * Sends a command. Returns true if the server accepted it. Otherwise calls `refused`, which by default shows the
   * error.
   */
  const send = async (act: (to: Execution) => Promise<void>, refused = fail): Promise<boolean> => {
    if (execution === undefined) return false;
    setProblem(undefined);
    try {
      await act(execution);
      return true;
    } catch (error) {
      refused(error);
      return false;
    }
  };
  const decide = async (...decisions: readonly Decision[]): Promise<boolean> => {
    const presenceCallIds = actions.flatMap(({ action }) =>
      action.presence === true ? [action.callId] : [],
    );
    setRefusal(undefined);
    const accepted = await send(
      (to) => decideWithPasskey(to, taskId, { decisions, presenceCallIds }),
      (error) =>
        setRefusal({ callIds: decisions.map(({ callId }) => callId), message: errorMessageOf(error) }),
    );
    if (!accepted) return false;
    for (const decision of decisions) {
      dropDraftsOfCall(drafts, decision.callId);
      setActions((before) => withAcceptedDecision(before, decision));
    }
    return true;
  };
  const abort = async (toolId: string): Promise<void> => {
    setProblem(undefined);
    const { success, message } = await client.abortTool(toolId, 'aborted on the approval page');
    if (!success) setProblem(message);
  };

  const say = async (text: string): Promise<boolean> => {
    const taken = await send((to) => to.say(text));
    // The stream has no event for a message that waits for the next turn, so the page reads the story again.
    if (taken) followed.readOn();
    return taken;
  };
  const revoke = async (grantId: string): Promise<boolean> => {
    if (!(await send((to) => to.revoke([grantId])))) return false;
    followed.readOn();
    setChanges((before) => before + 1);
    return true;
  };

  if (report === undefined) {
    if (outage !== undefined) return <ConnectionOutageBanner outage={outage} />;
    return <p class={failure === undefined ? 'quiet' : 'problem'}>{failure ?? 'Loading …'}</p>;
  }
  const refusedCall = callIdForRefusal(actions, refusal);
  const shownProblem = problem ?? failure ?? (refusedCall === undefined ? refusal?.message : undefined);
  const ended = hasEnded(report);
  // A note about progress changes often. It must not move a button.
  const message = report.message !== '' && <p class="message">{visibleText(report.message)}</p>;
  return (
    <article ref={article} tabIndex={-1} aria-label="Task">
      {outage !== undefined && <ConnectionOutageBanner outage={outage} />}
      <TaskHeader
        report={report}
        title={title === '' ? readableTaskTitle(firstMessageText(followed.story)) : title}
        onCancel={() => void send((to) => to.cancel('cancelled on the approval page'))}
      />
      <ProblemLine text={shownProblem} />
      {ended && message}
      <InputSchemaContext.Provider value={readSchema}>
        <ActionList
          taskId={taskId}
          link={link}
          actions={actions}
          problemOf={(callId) => (callId === refusedCall ? refusal?.message : undefined)}
          onDecide={decide}
        />
      </InputSchemaContext.Provider>
      <MessageBox client={client} report={report} onSay={say} onProblem={fail} />
      <RunningTools tools={report.tools} onAbort={(toolId) => void abort(toolId).catch(fail)} />
      <AboutTask
        taskId={taskId}
        report={report}
        facts={facts}
        model={followed.story.model}
        cost={cost}
        onRevoke={revoke}
      />
      <TaskFiles taskId={taskId} files={facts?.files ?? []} />
      <div data-live>
        {!ended && message}
        <TodoList todos={followed.story.todos} />
        <StoryView taskId={taskId} followed={followed} live={!ended} />
      </div>
      <Checkpoints client={client} taskId={taskId} report={report} />
      {cost !== '' && <TurnCosts client={client} taskId={taskId} cost={cost} />}
    </article>
  );
}
