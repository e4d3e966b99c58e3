/** Shows what a restoration would change, and asks before it starts. */
import { useState } from 'preact/hooks';
import {
  restorePreviewSchema,
  type RestorePreview,
  type TaskCheckpoint,
} from '../../../../shared/protocol/task-checkpoints.ts';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { DiffView } from '../diff/diff-view.tsx';
import { readJson, taskPath } from '../page-api.ts';
import { ProblemLine } from '../problem-line.tsx';
import { useKeptFocus } from '../use-kept-focus.ts';
import { useLoaded } from '../use-loaded.ts';

interface RestoreFilesFormProps {
  taskId: string;
  checkpoint: TaskCheckpoint;
  /** Resolves when the restoration has started. @param since true to undo all later turns too */
  onConfirm: (since: boolean, diff: string) => Promise<void>;
  onClose: () => void;
}

export function RestoreFilesForm({
  taskId,
  checkpoint: { turn },
  onConfirm,
  onClose,
}: RestoreFilesFormProps) {
  const [since, setSince] = useState(false);
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<string>();
  const box = useKeptFocus<HTMLDivElement>();
  const { value } = useLoaded(
    () =>
      readJson(taskPath(taskId, `checkpoints/${turn}?since=${since}`), restorePreviewSchema).then(
        (found) => ({ since, found, failure: undefined }),
        (error: unknown) => ({ since, found: undefined, failure: errorMessageOf(error) }),
      ),
    [taskId, turn, since],
  );
  // After a change of `since`, the page shows no preview until the new one has loaded.
  const { found: preview, failure } = value?.since === since ? value : {};
  const confirm = (diff: string): void => {
    setSending(true);
    setProblem(undefined);
    onConfirm(since, diff)
      .catch((error: unknown) => setProblem(errorMessageOf(error)))
      .finally(() => setSending(false));
  };
  return (
    <div ref={box} tabIndex={-1} role="group" aria-label={`Put back turn ${turn}`}>
      <label class="choice">
        <input
          type="checkbox"
          checked={since}
          disabled={sending}
          onChange={({ currentTarget }) => {
            setProblem(undefined);
            setSince(currentTarget.checked);
          }}
        />{' '}
        Also undo all later turns in this directory, of every session
      </label>
      {preview !== undefined && <PreviewOfRestore preview={preview} since={since} />}
      <ProblemLine text={problem ?? failure} />
      <div class="row">
        {preview?.type === 'ready' && (
          <button class="main" disabled={sending} onClick={() => confirm(preview.diff)}>
            Yes, put these files back
          </button>
        )}
        <button disabled={sending} onClick={onClose}>
          Keep the files
        </button>
      </div>
    </div>
  );
}

function PreviewOfRestore({ preview, since }: { preview: RestorePreview; since: boolean }) {
  switch (preview.type) {
    case 'refused':
      return <p class="warning">{visibleLine(preview.message)}</p>;
    case 'changed-since':
      return (
        <div class="warning">
          <p>These files have changed since, so nothing can be put back without losing that change:</p>
          <ul class="files">
            {preview.paths.map((path) => (
              <li key={path}>
                <code>{visibleLine(path)}</code>
              </li>
            ))}
          </ul>
          <p>
            {since
              ? 'A person or a command changed them. Undo that change by hand, or put back single turns.'
              : 'If later turns changed these files, undo those turns too. Otherwise undo the change by hand.'}
          </p>
        </div>
      );
    case 'ready': {
      const { files, left, diff } = preview;
      const [only, ...others] = files;
      return (
        <>
          <ul aria-label="Files to put back" class="files">
            {files.map(({ path, change, lines }) => (
              <li key={path}>
                {change} <code>{visibleLine(path)}</code>{' '}
                {lines !== null && (
                  <>
                    <span class="added">+{lines.added}</span> <span class="removed">−{lines.removed}</span>
                  </>
                )}
              </li>
            ))}
            {left.map(({ path, why }) => (
              <li key={path} class="quiet">
                stays as it is <code>{visibleLine(path)}</code> ({visibleLine(why)})
              </li>
            ))}
          </ul>
          <DiffView
            path={only !== undefined && others.length === 0 ? only.path : `${files.length} files`}
            diff={diff}
            label="Change by putting back"
          />
        </>
      );
    }
  }
}
