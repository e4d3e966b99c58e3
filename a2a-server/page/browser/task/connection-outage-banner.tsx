/** Shows that the page has no connection, and the age of the shown state. */
import { agoText } from '../age-text.ts';
import { useNow } from '../relative-time.tsx';
import type { ConnectionOutage } from './use-followed-task.ts';

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
