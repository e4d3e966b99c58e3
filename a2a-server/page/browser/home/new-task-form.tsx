import { useRef, useState } from 'preact/hooks';
import type { A2aClient, A2aTaskRequest } from '../../../../shared/client/index.ts';
import { offeredAgentSchema, type OfferedAgent } from '../../../../shared/protocol/offered-agent.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { readAddressTarget } from '../address.ts';
import { ProblemLine } from '../problem-line.tsx';
import { createTask } from '../create-task.ts';
import {
  workspaceChoicesSchema,
  type WorkspaceChoices,
} from '../../../../shared/protocol/workspace-choices.ts';
import { isSignedOut, readJson } from '../page-api.ts';
import { useKeptFocus } from '../use-kept-focus.ts';

interface NewTaskFormProps {
  client: A2aClient;
  /** @param before the task that the page showed when the person sent the task */
  onStarted: (taskId: string, before: string | undefined) => void;
  onSignedOut: () => void;
}

type TaskMode = NonNullable<A2aTaskRequest['mode']>;

const MODES: readonly { mode: TaskMode; text: string }[] = [
  { mode: 'plan', text: 'only read, and make a plan' },
  { mode: 'ask', text: 'only read' },
  { mode: 'accept-edits', text: 'read, and change files' },
  { mode: 'auto', text: 'do everything' },
];

function modeOf(value: string): TaskMode | '' {
  return MODES.find(({ mode }) => mode === value)?.mode ?? '';
}

const NO_KNOWN_WORKSPACES: WorkspaceChoices = { fallback: null, allowed: [] };

export function NewTaskForm({ client, onStarted, onSignedOut }: NewTaskFormProps) {
  const details = useRef<HTMLDetailsElement>(null);
  const [text, setText] = useState('');
  const [workspace, setWorkspace] = useState('');
  const [mode, setMode] = useState<TaskMode | ''>('');
  const [model, setModel] = useState('');
  const [known, setKnown] = useState<WorkspaceChoices>(NO_KNOWN_WORKSPACES);
  const [offered, setOffered] = useState<OfferedAgent>();
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<string>();

  const box = useKeptFocus<HTMLDivElement>();

  const close = (): void => {
    const { current } = details;
    if (current === null) return;
    // The person may already be writing the next task. Then the form stays open.
    if (current.querySelector(':is(input, textarea, select):focus') !== null) return;
    if (current.contains(document.activeElement)) current.querySelector('summary')?.focus();
    current.open = false;
  };
  const send = async (): Promise<void> => {
    setSending(true);
    setProblem(undefined);
    const { taskId: before } = readAddressTarget();
    try {
      const directory = workspace.trim();
      const taskId = await createTask(client, {
        text,
        ...(directory !== '' && { workspace: directory }),
        ...(mode !== '' && { mode }),
        ...(model !== '' && { model }),
      });
      // The person may have written more during the request. Then the text stays.
      setText((now) => (now === text ? '' : now));
      close();
      onStarted(taskId, before);
    } catch (error) {
      if (isSignedOut(error)) onSignedOut();
      else setProblem(errorMessageOf(error));
    } finally {
      setSending(false);
    }
  };
  const opened = async (): Promise<void> => {
    // Without an answer, the person can still type a path.
    setKnown(await readJson('/workspaces', workspaceChoicesSchema).catch(() => NO_KNOWN_WORKSPACES));
    // Without an answer, the server chooses the model.
    setOffered(await readJson('/agent', offeredAgentSchema).catch(() => undefined));
  };

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
          placeholder={known.fallback ?? ''}
          value={workspace}
          onInput={({ currentTarget }) => setWorkspace(currentTarget.value)}
        />
      </label>
      <datalist id="workspaces">
        {known.allowed.map((directory) => (
          <option key={directory} value={directory} />
        ))}
      </datalist>
      <div class="two-fields">
        <label>
          Without asking, the agent may
          <select value={mode} onChange={({ currentTarget }) => setMode(modeOf(currentTarget.value))}>
            <option value="">do what the server allows</option>
            {MODES.map(({ mode: value, text: words }) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </label>
        {offered !== undefined && <ModelSelect offered={offered} model={model} onChoose={setModel} />}
      </div>
      <div ref={box} tabIndex={-1} class="row">
        <button class="main" disabled={sending || text.trim() === ''} onClick={() => void send()}>
          Send
        </button>
      </div>
      <ProblemLine text={problem} />
    </details>
  );
}

interface ModelChoiceProps {
  offered: OfferedAgent;
  /** The chosen model. '' for the default. */
  model: string;
  onChoose: (model: string) => void;
}

/** Shows the agent of a new task. If the server has several models, the person chooses one. */
function ModelSelect({ offered: { agent, models }, model, onChoose }: ModelChoiceProps) {
  if (models.length === 0)
    return (
      <p>
        Agent
        <br />
        <span class="quiet">{visibleLine(agent)}</span>
      </p>
    );
  return (
    <label>
      Agent
      <select value={model} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        <option value="">{visibleLine(agent)} (default)</option>
        {models.map(({ name, id }) => (
          <option key={name} value={name}>
            {visibleLine(name === id ? id : `${name} (${id})`)}
          </option>
        ))}
      </select>
    </label>
  );
}
