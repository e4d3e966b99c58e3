import type { Workspace } from './workspace.ts';

/**
 * Returns a copy of the workspace. After the abort, each of its methods throws AbortError, so tools need no code for
 * this check. Operations that have started run to their end.
 */
export function createAbortableWorkspace(workspace: Workspace, signal: AbortSignal): Workspace {
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
