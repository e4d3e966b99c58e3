/** Shows how long ago something was. The text updates itself. */
import { useEffect, useState } from 'preact/hooks';
import { agoText, roundedDurationText } from './age-text.ts';

/** Returns the time in milliseconds since 1970. The component that calls this is drawn again every `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

interface RelativeTimeProps {
  /** The shown time, as in RFC 3339. */
  at: string;
  now: number;
  /** The verb of a state that has lasted since that time, e.g. `waits`. Absent for an event at that time. */
  verb?: string | undefined;
}

export function RelativeTime({ at, now, verb }: RelativeTimeProps) {
  const ms = now - Date.parse(at);
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {verb === undefined ? agoText(ms) : `${verb} ${roundedDurationText(ms)}`}
    </time>
  );
}
