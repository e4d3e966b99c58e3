/** Draws the first line of a step, with its time. */
import type { ComponentChildren } from 'preact';

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
