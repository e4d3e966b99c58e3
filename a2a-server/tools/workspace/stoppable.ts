/**
 * A workspace as a tool is given it: nothing is begun in it any more once the tool's signal has aborted. A tool cannot
 * forget to look, and what had been begun comes to its own end (A3).
 */
import type { Workspace } from '../workspace.ts';

/** @returns the same workspace. Each of its methods throws AbortError in the place of beginning after the abort. */
export function stoppable(workspace: Workspace, signal: AbortSignal): Workspace {
  const begin = async <T>(what: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    return what();
  };
  return {
    root: workspace.root,
    locate: (path) => begin(() => workspace.locate(path)),
    read: (path) => begin(() => workspace.read(path)),
    bytes: (path) => begin(() => workspace.bytes(path)),
    replace: (path, replacement) => begin(() => workspace.replace(path, replacement)),
    survey: (path, heeded) => begin(() => workspace.survey(path, heeded)),
    destination: (from, to) => begin(() => workspace.destination(from, to)),
    move: (from, to, move) => begin(() => workspace.move(from, to, move)),
    remove: (path, removal) => begin(() => workspace.remove(path, removal)),
    list: (path) => begin(() => workspace.list(path)),
    walk: (path, options, visit) =>
      begin(() =>
        workspace.walk(path, options, (directory) =>
          begin(() =>
            visit({
              ...directory,
              read: (name, maxBytes) => begin(() => directory.read(name, maxBytes)),
            }),
          ),
        ),
      ),
  };
}
