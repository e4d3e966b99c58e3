/** Shows a task's state, connection, running tools, model, mode, directory, cost and grants, with the commands on them. */
import { useRef } from 'preact/hooks';
import { hasEnded, type TaskReport } from '../../../../shared/client/index.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { agoText } from '../age-text.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { ReceiptLinks } from './receipt-links.tsx';
import { useNow } from '../relative-time.tsx';
import { stateText } from '../state-text.ts';
import { grantText, modeText } from './mode-and-grant-text.ts';
import type { TaskFacts } from './task-facts.ts';
import type { ConnectionOutage } from './use-followed-task.ts';

interface TaskHeadProps {
  report: TaskReport;
  /** The title of the task. '' until the page knows it. */
  title: string;
  onCancel: () => void;
}

export function TaskHeader({ report, title, onCancel }: TaskHeadProps) {
  return (
    <div class="task-head">
      {/* The title always has one line, so that its arrival moves no button. */}
      {title === '' ? (
        <div class="title">&nbsp;</div>
      ) : (
        <h2 title={visibleLine(title)}>{visibleLine(title)}</h2>
      )}
      <div class="row">
        {/* A screen reader says when the task waits again, or has ended. */}
        <span aria-live="polite">
          <strong class={`state-${report.state}`}>{stateText(report)}</strong>
          {report.notDone !== '' && <span class="state-incomplete">{`, ${report.notDone}`}</span>}
        </span>
        {!hasEnded(report) && (
          <ConfirmButton
            label="Cancel the task"
            question="Cancel the task and stop its tools?"
            yes="Yes, cancel it"
            no="Keep it"
            onYes={onCancel}
          />
        )}
      </div>
    </div>
  );
}

interface RunningToolsProps {
  tools: TaskReport['tools'];
  onAbort: (toolId: string) => void;
}

export function RunningTools({ tools, onAbort }: RunningToolsProps) {
  return tools.map(({ toolId, title }) => (
    <div class="row" key={toolId}>
      <span>{visibleLine(title)} …</span>
      <ConfirmButton
        label="Abort"
        question="Stop this tool? The task goes on."
        yes="Yes, stop it"
        no="Let it run"
        onYes={() => onAbort(toolId)}
      />
    </div>
  ));
}

interface TaskAboutProps {
  taskId: string;
  report: TaskReport;
  /** The settings, grants and files of the task. Undefined until the page knows them. */
  facts: TaskFacts | undefined;
  /** The model of the newest turn. '' before the first turn. */
  model: string;
  cost: string;
  /** Resolves to true if the server has revoked the grant. */
  onRevoke: (grantId: string) => Promise<boolean>;
}

export function AboutTask(props: TaskAboutProps) {
  return (
    <section class="about" aria-label="About this task">
      <Facts {...props} />
      {props.cost !== '' && <p class="quiet">{props.cost}</p>}
      <div class="row">
        <a href={`#${new URLSearchParams({ task: props.taskId }).toString()}`}>Link to this task</a>
        <ReceiptLinks taskId={props.taskId} />
        <details>
          <summary>Ids</summary>
          <code>{visibleLine(props.taskId)}</code> <code>{visibleLine(props.report.sessionId)}</code>
        </details>
      </div>
      <Grants {...props} />
    </section>
  );
}

function Facts({ facts, model }: TaskAboutProps) {
  const given = facts?.settings;
  const rows = [
    ['Model', model === '' ? (given?.model ?? '') : model],
    ['Mode', given === undefined ? '' : modeText(given)],
    ['Directory', given?.workspace ?? ''],
  ];
  return (
    <dl>
      {rows
        .filter(([, value]) => value !== '')
        .map(([name, value = '']) => (
          <div key={name}>
            <dt class="quiet">{name}</dt>
            <dd>{visibleLine(value)}</dd>
          </div>
        ))}
    </dl>
  );
}

function Grants({ facts, report, onRevoke }: TaskAboutProps) {
  if (facts === undefined || facts.grants.length === 0 || hasEnded(report)) return null;
  return (
    <section aria-label="Grants">
      <strong>These calls run without a question</strong>
      {facts.grants.map((grant) => (
        <div class="row" key={grant.grantId}>
          <span>{grantText(grant)}</span>
          <RevokeButton onClick={() => onRevoke(grant.grantId)} />
        </div>
      ))}
    </section>
  );
}

/**
 * Ignores clicks after the first one, unless the request fails. The row of a revoked grant stays until the page has
 * read the facts again.
 */
function RevokeButton({ onClick }: { onClick: () => Promise<boolean> }) {
  const sent = useRef(false);
  const revoke = async (): Promise<void> => {
    if (sent.current) return;
    sent.current = true;
    sent.current = await onClick();
  };
  return <button onClick={() => void revoke()}>Revoke</button>;
}

/** Shows that the page has no connection, and the age of the shown state. */
export function ConnectionOutageBanner({ outage: { since, message } }: { outage: ConnectionOutage }) {
  const now = useNow(1_000);
  const time = new Date(since).toLocaleTimeString();
  return (
    <p class="warning" role="status">
      No connection since {time}
      {/* The age changes each second. It moves no button, and a screen reader must not read the text again. */}
      <span data-live aria-hidden="true">
        {' '}
        ({agoText(now - since)})
      </span>
      . The page shows the state at that time, and tries again by itself. {message}
    </p>
  );
}
