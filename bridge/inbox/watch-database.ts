/** Watches the bridge's database for writes. The follower of the inbox and the command `inbox --watch` use this. */
import { watchDirectory } from '../local-server/watch-directory.ts';

/** The minimum time between two checks of the database, in milliseconds. */
const MIN_CHECK_INTERVAL_MS = 100;

interface DatabaseWatch {
  stateDirectory: string;
  /** Returns a value that changes with each write that matters: `changes` or `version` of the database. */
  version: () => string | number;
  /** Called once for the state at the first check, and after each later write. */
  onChange: () => void;
  /** Called if the database cannot be read. The next change of the directory causes another check. */
  onError: (error: unknown) => void;
}

/** Returns a function that stops watching. */
export function watchDatabase({ stateDirectory, version, onChange, onError }: DatabaseWatch): () => void {
  let known: string | number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const check = (): void => {
    timer = undefined;
    if (stopped) return;
    try {
      const now = version();
      if (now === known) return;
      known = now;
    } catch (error) {
      return onError(error);
    }
    onChange();
  };
  // The state directory also contains the local server's journal, which changes often. So the database is checked at
  // most every `MIN_CHECK_INTERVAL_MS`.
  const stopWatching = watchDirectory(
    stateDirectory,
    () => (timer ??= setTimeout(check, MIN_CHECK_INTERVAL_MS).unref()),
  );
  return () => {
    stopped = true;
    stopWatching();
  };
}
