/** The built-in tools the offline model's language speaks of, by the names they are offered under. */
export const TOOL = {
  list: 'list-files',
  read: 'read-file',
  search: 'search-files',
  write: 'write-file',
  append: 'append-file',
  edit: 'edit-file',
  multiEdit: 'multi-edit',
  move: 'move-file',
  delete: 'delete-file',
  run: 'run-shell-command',
  fetch: 'fetch',
  crawl: 'crawl',
  wait: 'wait',
  ask: 'ask-person',
} as const;

/** Tools whose result is what was asked for: it is repeated to the person, where that of a change is only summed up. */
export const CHANGES: ReadonlySet<string> = new Set([
  TOOL.write,
  TOOL.append,
  TOOL.edit,
  TOOL.multiEdit,
  TOOL.move,
  TOOL.delete,
  TOOL.wait,
]);

/** Tools that change one file, named by `path`. */
export const FILE_CHANGES: ReadonlySet<string> = new Set([
  TOOL.write,
  TOOL.append,
  TOOL.edit,
  TOOL.multiEdit,
]);
