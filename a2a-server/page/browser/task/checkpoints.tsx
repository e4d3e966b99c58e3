/** Lists the turns that changed files, each with a button that puts the files back. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { A2aClient, TaskReport } from '../../../../shared/client/index.ts';
import { taskCheckpointsSchema, type TaskCheckpoint } from '../../../../shared/protocol/task-checkpoints.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { openCreatedTask, taskFragment } from '../address.ts';
import { readJson, taskPath } from '../page-api.ts';
import { useKeptFocus } from '../use-kept-focus.ts';
import { useLoaded } from '../use-loaded.ts';
import { restoreFiles } from './restore-files.ts';
import { RestoreFilesForm } from './restore-files-form.tsx';
import { ChangedFiles, StoryStepTime } from './story-step-parts.tsx';

interface CheckpointsProps {
  client: A2aClient;
  taskId: string;
  report: TaskReport;
}

/** Draws nothing while the task works, or if the task changed no file. */
export function Checkpoints({ client, taskId, report }: CheckpointsProps) {
  const { state, cursor, sessionId } = report;
  const [opened, setOpened] = useState<number>();
  const settled = state !== 'working';
  // A failed request is ignored. The page reads the checkpoints again after the next change of the task.
  const { value: known } = useLoaded(
    () => (settled ? readJson(taskPath(taskId, 'checkpoints'), taskCheckpointsSchema) : undefined),
    [taskId, settled, cursor],
  );
  if (!settled || known === undefined || known.checkpoints.length === 0) return null;
  const { checkpoints, workspace, liveTask } = known;
  return (
    <section aria-label="Checkpoints" class="checkpoints">
      <h3>Checkpoints</h3>
      {liveTask !== null && <LiveTask taskId={taskId} live={liveTask} />}
      <ol>
        {checkpoints.map((checkpoint) => (
          <Turn key={checkpoint.id} checkpoint={checkpoint}>
            {opened === checkpoint.turn && liveTask === null ? (
              <RestoreFilesForm
                taskId={taskId}
                checkpoint={checkpoint}
                onConfirm={async (since, diff) => {
                  const { id } = checkpoint;
                  const request = { sessionId, workspace, checkpoint: id, since, diff };
                  openCreatedTask(await restoreFiles(client, request), taskId);
                }}
                onClose={() => setOpened(undefined)}
              />
            ) : (
              <button disabled={liveTask !== null} onClick={() => setOpened(checkpoint.turn)}>
                Put back …
              </button>
            )}
          </Turn>
        ))}
      </ol>
    </section>
  );
}

/** Explains that files can be restored only after the end of the session’s current task. */
function LiveTask({ taskId, live }: { taskId: string; live: { taskId: string; title: string } }) {
  if (live.taskId === taskId)
    return (
      <p class="quiet">
        Files can be put back after the end of this task. Answer what waits, or cancel the task.
      </p>
    );
  return (
    <p class="quiet">
      Files can be put back after the end of the session’s current task:{' '}
      <a href={taskFragment(live.taskId)}>{visibleLine(live.title)}</a>
    </p>
  );
}

interface TurnProps {
  checkpoint: TaskCheckpoint;
  /** The button that puts the files back, or the form that asks for a confirmation first. */
  children: ComponentChildren;
}

function Turn({ checkpoint: { turn, at, files, commands }, children }: TurnProps) {
  const box = useKeptFocus<HTMLLIElement>();
  return (
    <li ref={box} tabIndex={-1}>
      <div class="step-head">
        <span>Turn {turn}</span> <StoryStepTime at={at} />
      </div>
      <ChangedFiles label={`Files of turn ${turn}`} files={files} />
      {commands.length > 0 && (
        <p class="quiet">Not undone: {commands.map((title) => visibleLine(title)).join(', ')}</p>
      )}
      {children}
    </li>
  );
}
