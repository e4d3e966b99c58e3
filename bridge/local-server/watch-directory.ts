import { watch } from 'node:fs';

const POLL_MS = 100;

/**
 * Calls the listener after each change in a directory. This function may also call the listener without a change. If
 * the system has no free watches or file handles (ENOSPC, EMFILE), it calls the listener every 100 ms.
 * @returns a function that stops watching
 */
export function watchDirectory(path: string, listener: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const poll = (): void => {
    // A watch may fail after it was stopped. That error is ignored.
    if (!stopped) timer ??= setInterval(listener, POLL_MS);
  };
  const stopWatching = startWatching(path, listener, poll);
  return () => {
    stopped = true;
    stopWatching();
    clearInterval(timer);
  };
}

function startWatching(path: string, listener: () => void, onFailure: () => void): () => void {
  try {
    const watcher = watch(path, listener);
    watcher.on('error', () => {
      watcher.close();
      onFailure();
    });
    return () => watcher.close();
  } catch {
    onFailure();
    return () => undefined;
  }
}
