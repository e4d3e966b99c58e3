/** Draws what steps and checkpoints have in common: the first line with its time, and the changed files. */
import type { ComponentChildren } from 'preact';
import { visibleLine } from '../../../../shared/text/visible-text.ts';

export function StoryStepHead({ at, children }: { at: number; children: ComponentChildren }) {
  return (
    <div class="step-head">
      <span>{children}</span> <StoryStepTime at={at} />
    </div>
  );
}

/** Shows the time of day. The title has the date too. */
export function StoryStepTime({ at }: { at: number }) {
  const time = new Date(at);
  return (
    <time class="quiet" dateTime={time.toISOString()} title={time.toLocaleString()}>
      {time.toLocaleTimeString(undefined, { timeStyle: 'short' })}
    </time>
  );
}

interface ChangedFilesProps {
  label: string;
  files: readonly { path: string; change: string }[];
}

export function ChangedFiles({ label, files }: ChangedFilesProps) {
  return (
    <ul aria-label={label} class="files">
      {files.map(({ path, change }) => (
        <li key={path}>
          {change} <code>{visibleLine(path)}</code>
        </li>
      ))}
    </ul>
  );
}
